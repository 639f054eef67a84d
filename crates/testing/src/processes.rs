//! What running processes have taken, as Linux tells it.

use std::fs;
use std::process::Command;

/// Ticks of the clock in which Linux counts processor time: a hundredth of a second everywhere.
const TICK_MS: f64 = 10.0;

/// Returns the milliseconds of processor time that a process has taken so far; nothing where that is not to be had.
pub fn cpu_ms(process: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name may hold anything; the numbers are behind its last bracket.
    let numbers = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = numbers.split_whitespace().skip(11).take(2).filter_map(|number| number.parse::<f64>().ok());
    ticks.sum::<f64>() * TICK_MS
}

/// Lists the processes that a process has started.
pub fn children(process: u32) -> Vec<u32> {
    let listed = Command::new("pgrep").arg("-P").arg(process.to_string()).output();
    let listed =
        listed.map(|listed| String::from_utf8_lossy(&listed.stdout).into_owned()).unwrap_or_default();
    listed.lines().filter_map(|line| line.trim().parse().ok()).collect()
}
