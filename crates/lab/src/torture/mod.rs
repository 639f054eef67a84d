//! Torture: clients talk to a cluster of nodes that is hurt meanwhile. What they were told is then compared with the log.

pub mod check;
pub mod clients;
pub mod evidence;
pub mod faults;
pub mod history;
pub mod nodes;
pub mod same;
pub mod seed;
#[cfg(test)]
mod tests;
