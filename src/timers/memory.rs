//! Memory of this process, as the system counts it.

/// Bytes of this process in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessMemory {
    /// Now: its own pages, and those of files that are mapped.
    pub resident: u64,
    /// The most at a time since the process began.
    pub high_water: u64,
}

impl ProcessMemory {
    /// As the system tells; `None` where it does not.
    pub fn now() -> Option<Self> {
        Self::of_status(&std::fs::read_to_string("/proc/self/status").ok()?)
    }

    /// From the text of `/proc/<number>/status` of Linux.
    fn of_status(text: &str) -> Option<Self> {
        let bytes = |name: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
            let kibibytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
            kibibytes.checked_mul(1024)
        };
        Some(Self { resident: bytes("VmRSS")?, high_water: bytes("VmHWM")? })
    }
}

/// Bytes from which on freed memory is given back to the system at once.
#[cfg(target_env = "gnu")]
const LARGE_BLOCK: i32 = 1 << 20;

/// From now on the allocator gives large blocks back to the system when they are freed. By itself that of the GNU library keeps
/// ever larger ones for later, in pieces that later ones do not fit, so that a program takes more memory than it uses.
pub fn keep_no_large_blocks() {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: sets a number of the allocator.
        let set = unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK) };
        // An allocator that refuses takes more memory, with no other effect.
        tracing::debug!("threshold of large blocks set: {}", set == 1);
    }
}

/// Gives freed memory that the allocator keeps back to the system: after work that takes many small blocks and frees them all.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: concerns free memory only.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as proc_pid_status(5) shows them.
    #[test]
    fn a_status_is_understood() {
        let text = "Name:\tbash\nVmPeak:\t  131168 kB\nVmHWM:\t   13484 kB\nVmRSS:\t   13000 kB\n";
        let found = ProcessMemory::of_status(text).unwrap();
        assert_eq!((found.high_water, found.resident), (13_484 * 1024, 13_000 * 1024));
        for text in ["", "VmRSS:\t1 kB\n", "VmHWM:\t1 kB\nVmRSS:\t? kB\n"] {
            assert_eq!(ProcessMemory::of_status(text), None, "{text:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_taken_is_seen() {
        let before = ProcessMemory::now().unwrap();
        let taken = std::hint::black_box(vec![1_u8; 64 << 20]);
        let with = ProcessMemory::now().unwrap();
        assert!(with.resident >= before.resident + (48 << 20), "{before:?} {with:?}");
        assert!(with.high_water >= with.resident);
        drop(taken);
    }
}
