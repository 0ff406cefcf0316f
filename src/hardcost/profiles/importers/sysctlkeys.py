"""Which keys of published files of sysctls a guest has no setting for, and what patterns name.

A guest's only network device is `lo`, beside what stands for all and for new ones. So patterns on
devices name just these.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.controls.control import TEXT_SETTINGS, Sysctl
from hardcost.units import count

if TYPE_CHECKING:
    from hardcost.controls.control import Profile

_DEVICES = {"conf": ("all", "default", "lo"), "neigh": ("default", "lo")}
_OF_DEVICE = re.compile(
    r"(?P<before>net/ipv[46]/(?P<kind>conf|neigh)/)(?P<device>[^/]+)(?P<after>/\w+)", re.ASCII
)
_WILD = re.compile(r"[*?\[]")
_STATED = re.compile(
    # What the kernel says of itself and lets nobody set.
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


def in_guest(profile: Profile) -> Profile:
    """Return a profile without the settings of network devices that no guest has, with a note."""
    devices = {
        one: device
        for one in profile.controls
        if isinstance(one, Sysctl) and (device := _foreign_device(one.key)) is not None
    }
    kept = tuple(one for one in profile.controls if one not in devices)
    if not devices or not kept:
        return profile
    names = ", ".join(sorted(set(devices.values())))
    note = f"{count(len(devices), 'setting')} of devices that no guest has are left out: {names}"
    return replace(profile, controls=kept, notes=(*profile.notes, note))


def _foreign_device(key: str) -> str | None:
    found = _OF_DEVICE.fullmatch(slashed(key))
    if found is None or found["device"] in {"all", *_DEVICES[found["kind"]]}:
        return None
    return found["device"]


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
