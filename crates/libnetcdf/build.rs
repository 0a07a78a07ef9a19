//! Gives the library the name by which programs find it.
//!
//! The exports are those functions that are `no_mangle`: rustc tells the linker so in a version script of its own. A
//! second one (`crates/capi/package/libnetcdf.map`) could hide nothing more, and GNU ld refuses two.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnetcdf.so.22");
    println!("cargo:rerun-if-changed=build.rs");
}
