//! Machine that is measured on.

use std::env::consts::{ARCH, OS};
use std::fmt;
use std::fs;

use serde::Serialize;

use crate::session::all_cores;

/// A machine and the program on it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    pub(crate) version: &'static str,
    /// Whether the program was built to be measured.
    pub(crate) optimized: bool,
    pub(crate) cpu: String,
    pub(crate) cores: usize,
    pub(crate) os: String,
}

impl Machine {
    /// This one, as far as it tells.
    pub(crate) fn this() -> Self {
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            optimized: !cfg!(debug_assertions),
            cpu: cpu_name().unwrap_or_else(|| ARCH.to_owned()),
            cores: all_cores(),
            os: format!("{OS} {}", kernel.trim()).trim_end().to_owned(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "muslin {} on {}, {} cores, {}", self.version, self.cpu, self.cores, self.os)?;
        if self.optimized { Ok(()) } else { write!(f, "\na debug build: measure with cargo run --release -- bench") }
    }
}

fn cpu_name() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
