//! Rebuilds the binary when the page was rebuilt: a release build carries it inside.

fn main() {
    println!("cargo::rerun-if-changed=../dist");
}
