//! How the program is linked: without the C library, in one piece.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-link-arg-bins=-nostartfiles");
    println!("cargo::rustc-link-arg-bins=-nostdlib");
    println!("cargo::rustc-link-arg-bins=-Wl,-z,noseparate-code");
}
