//! What a server process costs, read from `/proc`: CPU time and resident memory.

use std::fs;

/// What a process used so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// CPU seconds, user and system, with children waited for.
    pub(super) cpu: f64,
    /// Peak resident memory in MiB.
    pub(super) peak_mib: f64,
}

impl Usage {
    /// Reads it; `None` when there is no such process.
    pub(super) fn of(pid: u32) -> Option<Self> {
        Some(Self { cpu: cpu_seconds(pid)?, peak_mib: peak_mib(pid)? })
    }
}

fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command name stands in parentheses and may hold blanks.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11..15)?.iter().filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(ticks as f64 / clock_ticks())
}

fn peak_mib(pid: u32) -> Option<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

#[expect(unsafe_code, reason = "sysconf has no safe form in std")]
fn clock_ticks() -> f64 {
    // SAFETY: sysconf takes a constant and returns a number; it touches no memory of ours.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}
