//! Calls of a plugin's functions, which exceptions of C++ do not leave.
//!
//! A filter written in C++ may throw when its data is damaged, and nothing above it here can be passed by such an
//! exception: the process would end. So these functions are called by a few instructions that the unwinder is told are
//! a handler of everything ("Exception Handling ABI", the personality routine). The exception is then deleted.
//!
//! Only where plugins are loaded on x86-64; elsewhere functions are called as they are, and an exception ends the
//! process.

/// What a function did that does not return.
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

    // `ferrocdf_plugin_call(function, thrown, a, b, c, d, e, f)`; the label behind it is where the unwinder goes on,
    // with the exception in the register of results.
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

    /// What the unwinder does and is told.
    const SEARCHES: c_int = 1;
    const IS_HANDLER: c_int = 4;
    const HANDLER_FOUND: c_int = 6;
    const INSTALL_CONTEXT: c_int = 7;
    const CONTINUE: c_int = 8;
    /// The register of results by its number for unwinders.
    const RAX: c_int = 0;

    /// Tells the unwinder that the call is a handler; but not when a thread is ended (`pthread_exit`), which nobody may catch.
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
        // SAFETY: this is what the unwinder asks for; the frame is as it is during the call.
        unsafe {
            _Unwind_SetGR(context, RAX, exception as usize);
            _Unwind_SetIP(context, ferrocdf_plugin_thrown as *const () as usize);
        }
        INSTALL_CONTEXT
    }

    /// Calls a function with numbers and addresses.
    ///
    /// # Safety
    /// It is a C function that takes the first of these arguments as integers and pointers, and they are what it
    /// wants. What it returns is an integer or a pointer; bits past its type are anything.
    pub(crate) unsafe fn call(function: *const (), arguments: [usize; 6]) -> Result<usize, Thrown> {
        let mut thrown = std::ptr::null_mut();
        let [a, b, c, d, e, f] = arguments;
        // SAFETY: as the caller says.
        let made = unsafe { ferrocdf_plugin_call(function, &raw mut thrown, a, b, c, d, e, f) };
        if thrown.is_null() {
            return Ok(made);
        }
        // SAFETY: the exception was caught, and nobody else has it.
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

    /// The head that all exceptions have.
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
        // SAFETY: it was made so.
        drop(unsafe { Box::from_raw(exception.cast::<Exception>()) });
    }

    /// Throws if the sum is not what it is.
    extern "C-unwind" fn checks(a: usize, b: usize, c: usize, d: usize, e: usize, sum: usize) -> usize {
        if a + 10 * b + 100 * c + 1000 * d + 10_000 * e == sum {
            return sum + 1;
        }
        let exception =
            Box::new(Exception { class: u64::from_be_bytes(*b"TESTTEST"), delete, private: [0; 2] });
        // SAFETY: it is an exception; the unwinder does not come back, as there is a handler.
        unsafe { _Unwind_RaiseException(Box::into_raw(exception).cast()) };
        0
    }

    #[test]
    fn exceptions_end_here() {
        let function = checks as *const ();
        for _ in 0..3 {
            // SAFETY: it takes six numbers.
            let made =
                unsafe { [call(function, [1, 2, 3, 4, 5, 54_321]), call(function, [1, 2, 3, 4, 5, 6])] };
            assert_eq!(made, [Ok(54_322), Err(Thrown)]);
        }
        assert_eq!(DELETED.load(Ordering::Relaxed), 3);
    }
}
