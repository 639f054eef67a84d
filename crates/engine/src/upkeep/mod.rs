//! What happens to sessions besides turns: memory is extracted, old sessions go, words are erased on request.

pub mod erasure;
pub mod memory;
mod memory_file;
pub mod retention;
