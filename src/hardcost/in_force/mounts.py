"""Mount options that harden, such as noexec on /tmp."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from auditrules.model.location import Location
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey, lines_of
from hardcost.mechanisms.mount import MountOptions

_MOUNTS = "/proc/self/mounts"
_TABLE = "/etc/fstab"
_HARDENING = ("nodev", "noexec", "nosuid")
_FOLDERS = frozenset(
    {"/tmp", "/var", "/var/tmp", "/var/log", "/var/log/audit", "/home", "/boot", "/boot/efi"}  # noqa: S108
)
"""What benchmarks ask such options for; elsewhere they are of interest if fstab has them."""

_KIND = "mount options"
_FIELDS = 4  # of a line: device, folder, type, options


def read(files: MachineFiles) -> Survey:
    """Return the mounts that have such options, each with the line that sets them."""
    written = {folder: place for folder, _, place in _mounts(files, _TABLE)}
    path = _MOUNTS if files.live else _TABLE
    found = []
    for folder, hardening, _ in _mounts(files, path):
        if not hardening or folder not in {*written, *_FOLDERS}:
            continue
        control = MountOptions(folder, hardening)
        found.append(InForce(_KIND, control.name, control, written.get(folder)))
    return Survey(tuple(found))


def _mounts(files: MachineFiles, path: str) -> Iterator[tuple[str, tuple[str, ...], Location]]:
    """Yield each folder of a table of mounts, with those options of it that harden."""
    for line, place in lines_of(files, path):
        fields = line.split()
        if len(fields) >= _FIELDS and fields[1].startswith("/"):
            yield fields[1], tuple(_hardening(fields[3].split(","))), place


def _hardening(options: Sequence[str]) -> Iterator[str]:
    """Yield the options that harden, unless a later one takes them back."""
    for one in _HARDENING:
        said = [it for it in options if it in {one, one.removeprefix("no"), "defaults"}]
        if said and said[-1] == one:
            yield one
