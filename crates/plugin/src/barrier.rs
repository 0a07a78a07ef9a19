//! Calls of plugin functions that stop C++ exceptions.
//!
//! A filter written in C++ may throw on damaged data. No Rust frame can be unwound by a C++ exception: the process
//! would abort. So plugin functions are called through a short assembly routine whose personality routine ("Exception
//! Handling ABI") declares a handler for every exception. The caught exception is deleted.
//!
//! This barrier exists only on x86-64 with Linux and glibc; elsewhere plugin functions are called directly, and an
//! exception ends the process.

/// Outcome of a function that threw an exception instead of returning.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Thrown;

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
mod here {
    use super::*;

    pub(crate) unsafe fn call(function: *const (), arguments: [usize; 6]) -> Result<usize, Thrown> {
        // SAFETY: as the caller says.
        let function = unsafe {
            std::mem::transmute::<
                *const (),
                unsafe extern "C" fn(usize, usize, usize, usize, usize, usize) -> usize,
            >(function)
        };
        let [a, b, c, d, e, f] = arguments;
        // SAFETY: as the caller says.
        Ok(unsafe { function(a, b, c, d, e, f) })
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod here {
    use std::ffi::{c_int, c_void};

    use super::*;

    // `ferrocdf_plugin_call(function, thrown, a, b, c, d, e, f)`. After an exception the unwinder continues at
    // `ferrocdf_plugin_thrown`, with the exception in the result register.
    std::arch::global_asm!(
        ".pushsection .data.rel.ro.ferrocdf_plugin_personality, \"aw\", @progbits",
        ".p2align 3",
        ".Lferrocdf_plugin_personality: .quad {personality}",
        ".popsection",
        ".pushsection .text.ferrocdf_plugin_call, \"ax\", @progbits",
        ".globl ferrocdf_plugin_call",
        ".hidden ferrocdf_plugin_call",
        ".type ferrocdf_plugin_call, @function",
        ".globl ferrocdf_plugin_thrown",
        ".hidden ferrocdf_plugin_thrown",
        "ferrocdf_plugin_call:",
        ".cfi_startproc",
        ".cfi_personality 0x9b, .Lferrocdf_plugin_personality",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "push rbx",
        "sub rsp, 8",
        ".cfi_offset rbx, -24",
        "mov rbx, rsi",
        "mov rax, rdi",
        "mov rdi, rdx",
        "mov rsi, rcx",
        "mov rdx, r8",
        "mov rcx, r9",
        "mov r8, [rbp + 16]",
        "mov r9, [rbp + 24]",
        "call rax",
        "2:",
        "mov rbx, [rbp - 8]",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_remember_state",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_restore_state",
        "ferrocdf_plugin_thrown:",
        "mov [rbx], rax",
        "xor eax, eax",
        "jmp 2b",
        ".cfi_endproc",
        ".size ferrocdf_plugin_call, . - ferrocdf_plugin_call",
        ".popsection",
        personality = sym personality,
    );

    unsafe extern "C" {
        fn ferrocdf_plugin_call(
            function: *const (),
            thrown: *mut *mut c_void,
            a: usize,
            b: usize,
            c: usize,
            d: usize,
            e: usize,
            f: usize,
        ) -> usize;
        fn ferrocdf_plugin_thrown();
        fn _Unwind_SetGR(context: *mut c_void, register: c_int, value: usize);
        fn _Unwind_SetIP(context: *mut c_void, address: usize);
        fn _Unwind_DeleteException(exception: *mut c_void);
    }

    /// Action bits and result codes of the unwinder.
    const SEARCHES: c_int = 1;
    const IS_HANDLER: c_int = 4;
    const HANDLER_FOUND: c_int = 6;
    const INSTALL_CONTEXT: c_int = 7;
    const CONTINUE: c_int = 8;
    /// DWARF number of the result register.
    const RAX: c_int = 0;

    /// Tells the unwinder that this call handles the exception. The forced unwinding of a thread that ends
    /// (`pthread_exit`) is not caught.
    unsafe extern "C" fn personality(
        _version: c_int,
        actions: c_int,
        _class: u64,
        exception: *mut c_void,
        context: *mut c_void,
    ) -> c_int {
        if actions & SEARCHES != 0 {
            return HANDLER_FOUND;
        }
        if actions & IS_HANDLER == 0 {
            return CONTINUE;
        }
        // SAFETY: the unwinder asks for these two registers; the frame is that of `ferrocdf_plugin_call`.
        unsafe {
            _Unwind_SetGR(context, RAX, exception as usize);
            _Unwind_SetIP(context, ferrocdf_plugin_thrown as *const () as usize);
        }
        INSTALL_CONTEXT
    }

    /// Calls a function with integers and addresses as arguments.
    ///
    /// # Safety
    /// `function` is a C function whose parameters are integers and pointers, at most as many as `arguments`, and each
    /// argument is valid for it. It returns an integer or a pointer; the bits of the result beyond the returned type
    /// are undefined.
    pub(crate) unsafe fn call(function: *const (), arguments: [usize; 6]) -> Result<usize, Thrown> {
        let mut thrown = std::ptr::null_mut();
        let [a, b, c, d, e, f] = arguments;
        // SAFETY: as the caller says.
        let made = unsafe { ferrocdf_plugin_call(function, &raw mut thrown, a, b, c, d, e, f) };
        if thrown.is_null() {
            return Ok(made);
        }
        // SAFETY: the exception was caught, so this is its only owner.
        unsafe { _Unwind_DeleteException(thrown) };
        Err(Thrown)
    }
}

pub(crate) use here::call;

#[cfg(all(test, target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod tests {
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Common header of all exceptions.
    #[repr(C, align(16))]
    struct Exception {
        class: u64,
        delete: extern "C" fn(c_int, *mut c_void),
        private: [usize; 2],
    }

    unsafe extern "C-unwind" {
        fn _Unwind_RaiseException(exception: *mut c_void) -> c_int;
    }

    static DELETED: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn delete(_why: c_int, exception: *mut c_void) {
        DELETED.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the exception was created with `Box::into_raw`.
        drop(unsafe { Box::from_raw(exception.cast::<Exception>()) });
    }

    /// Throws if `sum` is not the weighted sum of the other arguments.
    extern "C-unwind" fn checks(a: usize, b: usize, c: usize, d: usize, e: usize, sum: usize) -> usize {
        if a + 10 * b + 100 * c + 1000 * d + 10_000 * e == sum {
            return sum + 1;
        }
        let exception =
            Box::new(Exception { class: u64::from_be_bytes(*b"TESTTEST"), delete, private: [0; 2] });
        // SAFETY: the pointer is a valid exception; `call` handles it, so the unwinder does not return.
        unsafe { _Unwind_RaiseException(Box::into_raw(exception).cast()) };
        0
    }

    #[test]
    fn exceptions_end_here() {
        let function = checks as *const ();
        for _ in 0..3 {
            // SAFETY: `checks` takes six numbers.
            let made =
                unsafe { [call(function, [1, 2, 3, 4, 5, 54_321]), call(function, [1, 2, 3, 4, 5, 6])] };
            assert_eq!(made, [Ok(54_322), Err(Thrown)]);
        }
        assert_eq!(DELETED.load(Ordering::Relaxed), 3);
    }
}
