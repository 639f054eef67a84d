//! Tells the compiler whether to build the sentence encoder in: its 22 MB are too many for a package.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(encoder_asset)");
    println!("cargo::rerun-if-changed=assets/encoder.bin");
    let wanted = std::env::var_os("CARGO_FEATURE_ENCODER").is_some();
    if wanted && std::path::Path::new("assets/encoder.bin").exists() {
        println!("cargo::rustc-cfg=encoder_asset");
    }
}
