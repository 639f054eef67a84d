//! The command line of Segue.
fn main() {}
