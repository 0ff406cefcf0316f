"""Which keys of published files of sysctls have no lasting effect."""

from __future__ import annotations

import re

from hardcost.mechanisms.sysctl import TEXT_SETTINGS, with_slashes

_STATED = re.compile(
    # What the kernel says of itself, and does not let even root set.
    # Source: entries of mode 0444 in Linux 6.1 (crypto/, drivers/, fs/, kernel/, net/).
    r"crypto/fips_\w+|dev/cdrom/info|dev/parport/[^/]+/(base-addr|irq|dma|modes|autoprobe\d?)"
    r"|dev/parport/[^/]+/devices/active"
    r"|fs/(aio-nr|dentry-state|file-nr|inode-nr|inode-state)"
    r"|fs/quota/(allocated_dquots|cache_hits|drops|free_dquots|lookups|reads|syncs|writes)"
    r"|kernel/(arch|bootloader_type|bootloader_version|cap_last_cap|ngroups_max|osrelease|ostype"
    r"|sg-big-buff|version|pty/nr|seccomp/actions_avail"
    r"|random/(boot_id|uuid|entropy_avail|poolsize))"
    r"|net/core/netdev_rss_key|net/ipv[46]/conf/[^/]+/mc_forwarding"
    r"|net/ipv4/tcp_(available_(congestion_control|ulp)|ehash_entries)"
    r"|net/netfilter/nf_conntrack_count|sunrpc/transports",
    re.ASCII,
)
_TRIGGERS = re.compile(
    r"kernel/tainted|vm/(compact_memory|drop_caches|stat_refresh)|net/ipv[46]/route/flush"
)
_PROCESS = re.compile(r"kernel/(ns_last_pid|domainname|hostname)")


def without_effect(key: str, value: str) -> str | None:
    """Return why a setting of a key has no lasting effect in a guest; None: it may have one."""
    path = with_slashes(key)
    if _STATED.fullmatch(path):
        return "the kernel states it, and it can't be set"
    if _TRIGGERS.fullmatch(path):
        return "writing to it is an act, not a setting"
    if _PROCESS.fullmatch(path):
        return "it names this machine or what ran last on it"
    if not value and path not in TEXT_SETTINGS:
        return "it has no value"
    return None
