//! How the program is linked: it starts without the C library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-nostartfiles");
    println!("cargo::rustc-link-arg-bins=-Wl,-z,noseparate-code");
}
