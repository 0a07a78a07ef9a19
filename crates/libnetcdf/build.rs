//! Gives the library the name by which programs find it.

fn main() {
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libnetcdf.so.22");
    println!("cargo:rerun-if-changed=build.rs");
}
