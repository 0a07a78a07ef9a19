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
    use std::ffi::c_void;
    use std::fs;
    use std::sync::OnceLock;

    use rustix::mm::{Advice, madvise};

    /// Bytes of a list below which the advice does not pay.
    const LARGE: usize = 4 << 20;

    /// Advises the kernel to use huge pages for a list that was not accessed yet, if that pays. The content stays the same.
    pub fn advise_huge_pages<T>(list: &mut [T]) {
        if size_of_val(list) >= LARGE && !gives_memory_back() {
            advise(list);
        }
    }

    fn advise<T>(list: &mut [T]) {
        let (start, bytes) = pages(list);
        // SAFETY: the range lies within the list, and the advice does not change the content of memory. Systems without huge
        // pages return an error, which is ignored.
        #[allow(unsafe_code)]
        let _ = unsafe { madvise(start, bytes, Advice::LinuxHugepage) };
    }

    /// Returns the start of the first page within a list, and the bytes from there to its end.
    fn pages<T>(list: &mut [T]) -> (*mut c_void, usize) {
        let bytes = size_of_val(list);
        let start = list.as_mut_ptr().cast::<u8>();
        let skip = start.align_offset(rustix::param::page_size()).min(bytes);
        (start.wrapping_add(skip).cast(), bytes - skip)
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

        /// Returns the flags of the mapping of an address, as far as the kernel reports them.
        fn flags(at: usize) -> Vec<String> {
            let maps = fs::read_to_string("/proc/self/smaps").unwrap_or_default();
            let number = |text| usize::from_str_radix(text, 16).ok();
            let mut here = false;
            for line in maps.lines() {
                let range = line.split(' ').next().and_then(|range| range.split_once('-'));
                if let Some((from, to)) = range.and_then(|(from, to)| number(from).zip(number(to))) {
                    here = (from..to).contains(&at);
                } else if let Some(flags) = line.strip_prefix("VmFlags:").filter(|_| here) {
                    return flags.split_whitespace().map(str::to_string).collect();
                }
            }
            vec![]
        }

        #[test]
        fn the_advice_reaches_the_kernel_and_keeps_the_content() {
            let has_them = fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap_or_default();
            let mut list = vec![0u32; LARGE];
            let middle = list.as_ptr().addr() + LARGE * 2;
            let is_advised = |flag: &str| flags(middle).iter().any(|known| known == flag);
            assert!(!is_advised("hg"));
            advise(&mut list);
            // Advice that each kernel takes tells whether the flags say anything of advice: those of an emulator do not.
            let (start, bytes) = pages(&mut list);
            // SAFETY: as in `advise`; the memory is only left out of core dumps.
            #[allow(unsafe_code)]
            unsafe { madvise(start, bytes, Advice::LinuxDontDump) }.unwrap();
            match is_advised("dd") {
                true => assert_eq!(is_advised("hg"), has_them),
                false => println!("not judged: /proc/self/smaps does not report advice"),
            }
            assert!(list.iter().all(|&number| number == 0));
        }
    }
}
