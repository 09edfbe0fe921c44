//! Makes cargo look at the embedded rule files: the crate is built again when one of them changes.

fn main() {
    println!("cargo::rerun-if-changed=rules");
    println!("cargo::rerun-if-changed=build.rs");
}
