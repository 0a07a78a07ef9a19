//! Huge pages for large allocations.
//!
//! The first access to a page costs more than filling it, so the kernel is advised to use huge pages: one page fault for
//! 2 MiB in place of 512. On a virtual machine that reports free pages to its host, small pages are faster. One of two modules
//! of the crate with unsafe code (decision 014).

/// Advises the kernel to use huge pages for a list that was not accessed yet, if that pays. The content stays the same.
#[cfg(not(target_os = "linux"))]
pub fn advise_huge_pages<T>(_list: &mut [T]) {}

#[cfg(target_os = "linux")]
pub use linux::advise_huge_pages;

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::sync::OnceLock;

    /// Bytes of a list below which the advice does not pay.
    const LARGE: usize = 4 << 20;

    /// Advises the kernel to use huge pages for a list that was not accessed yet, if that pays. The content stays the same.
    pub fn advise_huge_pages<T>(list: &mut [T]) {
        if size_of_val(list) >= LARGE && !gives_memory_back() {
            advise(list);
        }
    }

    fn advise<T>(list: &mut [T]) {
        let bytes = size_of_val(list);
        let start = list.as_mut_ptr().cast::<u8>();
        let skip = start.align_offset(rustix::param::page_size());
        if skip >= bytes {
            return;
        }
        let start = start.wrapping_add(skip).cast();
        // SAFETY: the range lies within the list, and the advice does not change the content of memory. Systems without huge
        // pages return an error, which is ignored.
        #[allow(unsafe_code)]
        let _ = unsafe { rustix::mm::madvise(start, bytes - skip, rustix::mm::Advice::LinuxHugepage) };
    }

    /// True if the virtual machine reports free memory to its host: the host takes it away, and returning it is slow.
    fn gives_memory_back() -> bool {
        static GIVES: OnceLock<bool> = OnceLock::new();
        *GIVES.get_or_init(|| {
            let devices = fs::read_dir("/sys/bus/virtio/devices").into_iter().flatten().flatten();
            devices.map(|device| device.path()).any(|device| {
                let read = |name| fs::read_to_string(device.join(name)).unwrap_or_default();
                reports_free_pages(&read("device"), &read("features"))
            })
        })
    }

    /// True if a virtio device is a memory balloon (number 5) with free page reporting (feature 5), "Virtual I/O Device" 5.5.
    /// The system writes the features as digits, the first one first.
    fn reports_free_pages(device: &str, features: &str) -> bool {
        device.trim() == "0x0005" && features.as_bytes().get(5) == Some(&b'1')
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn memory_balloons_with_page_reporting_are_recognized() {
            assert!(reports_free_pages("0x0005\n", "01100101000000000000000000000000100000000000\n"));
            assert!(!reports_free_pages("0x0005\n", "01100000000000000000000000000000100000000000\n"));
            assert!(!reports_free_pages("0x0002\n", "00100110011001000000000000000100100000000000\n"));
            assert!(!reports_free_pages("", ""));
        }

        /// True if the kernel was advised to use huge pages for the mapping of an address; `None` if the kernel does not report
        /// it.
        fn is_advised(at: usize) -> Option<bool> {
            let maps = fs::read_to_string("/proc/self/smaps").ok()?;
            let number = |text| usize::from_str_radix(text, 16).ok();
            let mut here = false;
            for line in maps.lines() {
                let range = line.split(' ').next().and_then(|range| range.split_once('-'));
                if let Some((from, to)) = range.and_then(|(from, to)| number(from).zip(number(to))) {
                    here = (from..to).contains(&at);
                } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| here) {
                    return Some(flags.split_whitespace().any(|flag| flag == "hg"));
                }
            }
            None
        }

        #[test]
        fn the_advice_reaches_the_kernel_and_keeps_the_content() {
            let has_them = fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap_or_default();
            let mut list = vec![0u32; LARGE];
            let middle = list.as_ptr() as usize + LARGE * 2;
            assert!(is_advised(middle) != Some(true));
            advise(&mut list);
            assert!(is_advised(middle).is_none_or(|advised| advised == has_them));
            assert!(list.iter().all(|&number| number == 0));
        }
    }
}
