//! The default memory limit of a search.
//!
//! **Input**: the system's information about the machine, the control groups of the process, and the limit of the process.
//! **Output**: half of the least of these, in bytes; nothing if the system provides no information.
//!
//! **Soundness and limits**: control groups are read where Linux usually has them (`/sys/fs/cgroup`, version 2, and version 1
//! under `memory`), at each level above the group of the process. The memory of other processes is not counted: half is left to
//! them. Answers do not depend on the limit as long as a search stays within it.

use std::fs;
use std::path::Path;

/// Half of the memory that the process may have.
pub(super) fn half_of_memory() -> Option<u64> {
    let read = |path: &Path| fs::read_to_string(path).ok();
    least(&read).map(|bytes| bytes / 2)
}

/// The least of the limits that there are.
fn least(read: &impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let of_machine = read(Path::new("/proc/meminfo")).and_then(|text| total(&text));
    let of_process = read(Path::new("/proc/self/limits")).and_then(|text| address_space(&text));
    let groups = read(Path::new("/proc/self/cgroup")).unwrap_or_default();
    let of_groups = groups.lines().filter_map(|line| of_group(line, read)).min();
    [of_machine, of_process, of_groups].into_iter().flatten().min()
}

/// `MemTotal` of `/proc/meminfo`, which is in KiB.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The soft limit of the address space; nothing where it is unlimited.
fn address_space(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The least limit of a control group, given as a line of `/proc/self/cgroup`, and of those above it.
fn of_group(line: &str, read: &impl Fn(&Path) -> Option<String>) -> Option<u64> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, group) = (parts.next()?, parts.next()?);
    let (root, file) = if controllers.is_empty() {
        (Path::new("/sys/fs/cgroup"), "memory.max")
    } else if controllers.split(',').any(|each| each == "memory") {
        (Path::new("/sys/fs/cgroup/memory"), "memory.limit_in_bytes")
    } else {
        return None;
    };
    let own = root.join(group.trim_start_matches('/'));
    let levels = own.ancestors().take_while(|level| level.starts_with(root));
    levels.filter_map(|level| read(&level.join(file))?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(files: &'static [(&'static str, &'static str)]) -> impl Fn(&Path) -> Option<String> {
        move |path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned())
    }

    #[test]
    fn the_least_limit_counts() {
        assert_eq!(least(&system(&[])), None);
        assert_eq!(least(&system(&[("/proc/meminfo", "MemTotal:  16384 kB\nMemFree: 1 kB\n")])), Some(16 << 20));
        let above = system(&[
            ("/proc/meminfo", "MemTotal:       16384 kB\n"),
            ("/proc/self/cgroup", "0::/user/job\n"),
            ("/sys/fs/cgroup/user/job/memory.max", "max\n"),
            ("/sys/fs/cgroup/user/memory.max", "4096\n"),
        ]);
        assert_eq!(least(&above), Some(4096));
        let old = system(&[
            ("/proc/self/cgroup", "5:cpu:/a\n4:memory:/a\n"),
            ("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "8192"),
        ]);
        assert_eq!(least(&old), Some(8192));
    }

    #[test]
    fn the_address_space_counts_where_it_is_limited() {
        let header = "Limit                     Soft Limit           Hard Limit           Units\n";
        let limited = format!("{header}Max address space         8000000              unlimited            bytes\n");
        assert_eq!(address_space(&limited), Some(8_000_000));
        let unlimited = format!("{header}Max address space         unlimited            unlimited            bytes\n");
        assert_eq!(address_space(&unlimited), None);
    }
}
