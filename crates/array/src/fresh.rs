//! Memory that nobody touched yet.
//!
//! The first touch of a page costs more than filling it, so the system is asked for large pages behind large lists: one
//! touch for 2 MiB in the place of 512. This is the one module of the crate with unsafe code (docs/decisions, "Huge pages
//! behind fresh memory").

/// Fewer bytes are not worth it.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// Asks for large pages behind a list that was not touched yet. What it holds stays as it is.
pub fn large_pages<T>(list: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        let (bytes, page) = (size_of_val(list), rustix::param::page_size());
        if bytes < LARGE {
            return;
        }
        let start = list.as_mut_ptr().cast::<u8>();
        let skip = start.align_offset(page);
        if skip >= bytes {
            return;
        }
        // SAFETY: the range lies within the list, and the advice changes nothing that a program can see of it. Systems
        // that know nothing of it say so, which is as good.
        #[allow(unsafe_code)]
        let _ = unsafe {
            rustix::mm::madvise(
                start.wrapping_add(skip).cast(),
                bytes - skip,
                rustix::mm::Advice::LinuxHugepage,
            )
        };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = list;
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The flags of the mapping that holds an address, as the system tells them; `None` where it does not.
    fn flags(at: usize) -> Option<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        let mut here = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.and_then(|(a, b)| {
                Some((usize::from_str_radix(a, 16).ok()?, usize::from_str_radix(b, 16).ok()?))
            });
            if let Some((from, to)) = ends {
                here = (from..to).contains(&at);
            } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| here) {
                return Some(flags.to_string());
            }
        }
        None
    }

    #[test]
    fn large_lists_are_advised_and_small_ones_are_not() {
        let has_them = std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        for (len, advised) in [(LARGE * 4, true), (LARGE / 2, false)] {
            let mut list = vec![0u8; len];
            large_pages(&mut list);
            let middle = list.as_ptr() as usize + len / 2;
            let told = flags(middle).expect("Linux tells its mappings");
            assert_eq!(
                told.split_whitespace().any(|flag| flag == "hg"),
                advised && has_them,
                "{len}: {told}"
            );
            assert!(list.iter().all(|&byte| byte == 0));
        }
    }
}
