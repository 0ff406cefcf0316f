"""Which keys of published files of sysctls a guest has no setting for, and what patterns name.

A guest's only network device is `lo`, beside what stands for all and for new ones. So patterns on
devices name just these.
"""

from __future__ import annotations

import fnmatch
import re

from hardcost.controls.control import TEXT_SETTINGS

_DEVICES = {"conf": ("all", "default", "lo"), "neigh": ("default", "lo")}
_OF_DEVICE = re.compile(
    r"(?P<before>net/ipv[46]/(?P<kind>conf|neigh)/)(?P<device>[^/]+)(?P<after>/\w+)", re.ASCII
)
_WILD = re.compile(r"[*?\[]")
_STATED = re.compile(
    # What the kernel says of itself and lets nobody set.
    # Source: entries of mode 0444 in Linux 6.1 (kernel/, fs/, net/, drivers/).
    r"dev/cdrom/info|dev/parport/.*|dev/raid/.*"
    r"|fs/(aio-nr|dentry-state|file-nr|inode-nr|inode-state)|fs/quota/\w+"
    r"|kernel/(arch|bootloader_type|bootloader_version|cap_last_cap|ngroups_max|osrelease|ostype"
    r"|version|tainted|pty/nr|seccomp/actions_avail|random/(boot_id|uuid|entropy_avail|poolsize))"
    r"|net/ipv4/tcp_available_(congestion_control|ulp)|net/netfilter/nf_conntrack_(buckets|count)"
    r"|sunrpc/transports"
)
_TRIGGERS = re.compile(r"vm/(compact_memory|drop_caches|stat_refresh)|net/ipv[46]/route/flush")
_PROCESS = re.compile(r"kernel/(ns_last_pid|domainname|hostname)")


def has_pattern(key: str) -> bool:
    """Say whether a key is a pattern."""
    return _WILD.search(key) is not None


def slashed(key: str) -> str:
    """Return a key with a slash between its parts, as sysctl.d(5) reads it."""
    first = re.search(r"[./]", key)
    if first is None or first[0] == "/":
        return key
    return key.translate(str.maketrans("./", "/."))


def expanded(pattern: str) -> tuple[str, ...] | None:
    """Return a guest's keys that a pattern names; None where which there are is not known."""
    found = _OF_DEVICE.fullmatch(slashed(pattern))
    if found is None:
        return None
    devices = _DEVICES[found["kind"]]
    return tuple(
        f"{found['before']}{device}{found['after']}".replace("/", ".")
        for device in devices
        if fnmatch.fnmatchcase(device, found["device"])
    )


def without_effect(key: str, value: str) -> str | None:
    """Return why a setting of a key has no lasting effect in a guest; None: it may have one."""
    path = slashed(key)
    if _STATED.fullmatch(path):
        return "the kernel states it, and lets nobody set it"
    if _TRIGGERS.fullmatch(path):
        return "writing to it is an act, not a setting"
    if _PROCESS.fullmatch(path):
        return "it names this machine or what ran last on it"
    if not value and path not in TEXT_SETTINGS:
        return "it has no value"
    return None
