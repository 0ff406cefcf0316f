//! Settings that change others, and settings that can't be put back.

use std::fs;
use std::path::Path;

const SYS: &str = "/proc/sys/";
/// Writing one of a pair sets the other to 0.
const PAIRS: [(&str, &str); 3] = [
    ("vm/dirty_bytes", "vm/dirty_ratio"),
    ("vm/dirty_background_bytes", "vm/dirty_background_ratio"),
    ("vm/overcommit_kbytes", "vm/overcommit_ratio"),
];
/// The kernel changes these in one direction only, or each write has an effect.
const IRREVERSIBLE: [&str; 10] = [
    "kernel/kexec_load_disabled",
    "kernel/kexec_load_limit_panic",
    "kernel/kexec_load_limit_reboot",
    "kernel/modules_disabled",
    "kernel/ns_last_pid",
    "kernel/unprivileged_bpf_disabled",
    "kernel/yama/ptrace_scope",
    "vm/compact_memory",
    "vm/drop_caches",
    "vm/memfd_noexec",
];

/// Whether a setting can't always be put back.
pub fn is_irreversible(path: &str) -> bool {
    path.strip_prefix(SYS).is_some_and(|name| IRREVERSIBLE.contains(&name))
}

/// The value of a setting, if it changes, after another one got `value`.
pub fn value_after(path: &str, value: &[u8]) -> Vec<u8> {
    let is_of_pair = PAIRS
        .iter()
        .flat_map(|(one, other)| [one, other])
        .any(|name| path.strip_prefix(SYS) == Some(name));
    if is_of_pair { b"0".to_vec() } else { value.to_vec() }
}

/// The paths of other settings that writing one may change.
pub fn settings_changed_by(path: &str) -> Vec<String> {
    let Some(name) = path.strip_prefix(SYS) else { return Vec::new() };
    let pair = PAIRS.iter().find_map(|&(one, other)| match name {
        _ if name == one => Some(other),
        _ if name == other => Some(one),
        _ => None,
    });
    if let Some(other) = pair {
        return vec![format!("{SYS}{other}")];
    }
    match name.split('/').collect::<Vec<_>>()[..] {
        ["net", "ipv4", "ip_forward"] => of_interfaces("ipv4", "forwarding", ""),
        ["net", family @ ("ipv4" | "ipv6"), "conf", "all" | "default", setting] => {
            let mut found = of_interfaces(family, setting, path);
            if (family, setting) == ("ipv4", "forwarding") {
                found.push(format!("{SYS}net/ipv4/ip_forward"));
            }
            found
        }
        _ => Vec::new(),
    }
}

/// A setting of each network interface, except for one path.
fn of_interfaces(family: &str, setting: &str, but: &str) -> Vec<String> {
    let folder = format!("{SYS}net/{family}/conf");
    let Ok(names) = fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<_> = names
        .filter_map(|name| name.ok()?.file_name().into_string().ok())
        .map(|name| format!("{folder}/{name}/{setting}"))
        .filter(|path| path != but && Path::new(path).exists())
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::{is_irreversible, settings_changed_by, value_after};

    #[test]
    fn a_setting_moves_its_pair_and_those_of_interfaces() {
        assert_eq!(settings_changed_by("/proc/sys/vm/dirty_ratio"), ["/proc/sys/vm/dirty_bytes"]);
        assert_eq!(value_after("/proc/sys/vm/dirty_bytes", b"5"), b"0");
        assert_eq!(value_after("/proc/sys/net/ipv4/conf/lo/forwarding", b"1"), b"1");
        assert!(settings_changed_by("/proc/sys/kernel/kptr_restrict").is_empty());
        let all = "/proc/sys/net/ipv4/conf/all/rp_filter";
        assert!(!settings_changed_by(all).contains(&all.to_owned()));
    }

    #[test]
    fn what_the_kernel_takes_once_is_final() {
        assert!(is_irreversible("/proc/sys/kernel/modules_disabled"));
        assert!(!is_irreversible("/proc/sys/kernel/kptr_restrict"));
    }
}
