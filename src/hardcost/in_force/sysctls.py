"""Sysctls: those of the price list that are in force, and those that a file sets.

The folders are those of sysctl.d(5). Of several files of one name, that of the first folder counts;
of several lines that set a key, the last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.prices.listed import listed
from hardcost.profiles.importers.sysctl import set_by_texts
from hardcost.profiles.kernel.defaults import default_of

_FOLDERS = (
    "/etc/sysctl.d",
    "/run/sysctl.d",
    "/usr/local/lib/sysctl.d",
    "/usr/lib/sysctl.d",
    "/lib/sysctl.d",
)
_LAST = "/etc/sysctl.conf"
_LINK = "99-sysctl.conf"
"""Debian's link to it in the folders."""

_BELOW = "/proc/sys/"
_UNSET = "no file sets it: it is the kernel's default, or was set by hand"
_DISTRIBUTIONS = ("/usr/lib/", "/lib/")


def read(files: MachineFiles) -> Survey:
    """Return the sysctls in force, each with the line that sets it."""
    set_by_files = set_by_texts(_texts(files))
    written = {one.path: one for one in set_by_files.sysctls}
    known = {one.path: one for one in listed_sysctls().values()}
    found = []
    notes = [one for one in set_by_files.notes if not one.startswith(_DISTRIBUTIONS)]
    for path in dict.fromkeys((*written, *known)):
        set_here = written.get(path)
        written_value = None if set_here is None else set_here.value
        value = _value(files, path) if files.live else written_value
        if value is None:
            continue
        control = Sysctl(_key(path), value)
        if control.name in listed_sysctls() or value == written_value:
            found.append(_in_force(control, set_here))
        elif set_here is not None:
            notes.append(f"{set_here.place} sets {set_here.name}, and the kernel has {value}")
    if not files.live and files.text(_LAST) and not files.names(_FOLDERS[0]):
        notes.append(f"{_LAST} is read by `sysctl --system`, and not when the system boots")
    return Survey(tuple(found), notes=tuple(notes))


def _in_force(control: Sysctl, written: Sysctl | None) -> InForce:
    made = InForce(
        Sysctl.noun, control.name, control, by_default=default_of(control, ()) is not None
    )
    if written is None or written.place is None:
        return replace(made, by_default=True, note="" if made.by_default else _UNSET)
    if written.value != control.value:
        return replace(made, note=f"{written.place} says {written.value}")
    own = not written.place.file.startswith(_DISTRIBUTIONS)
    return replace(made, place=written.place, by_default=made.by_default or not own)


@cache
def listed_sysctls() -> Mapping[str, Sysctl]:
    """Return the sysctls of the price list by name."""
    known = (one.control for one in listed() if isinstance(one.control, Sysctl))
    return {one.name: one for one in known}


def _key(path: str) -> str:
    """Return a key as people write it: with dots, unless a name in it has one."""
    bare = path.removeprefix(_BELOW)
    return bare if "." in bare else bare.replace("/", ".")


def _value(files: MachineFiles, path: str) -> str | None:
    """Return what the kernel has; None where it has no such key, or may not be asked."""
    text = files.text(path)
    return None if text is None else " ".join(text.split())


def _texts(files: MachineFiles) -> Iterator[tuple[str, str]]:
    """Yield the texts of files, in the order in which systemd-sysctl reads them, with their paths.

    It does not read the last, which `sysctl --system` does: on a machine that runs it may hold.
    """
    paths: dict[str, str] = {}
    for folder in _FOLDERS:
        for name in files.names(folder):
            if name.endswith(".conf"):
                paths.setdefault(name, f"{folder}/{name}")
    last = (_LAST,) if files.live and _LINK not in paths else ()
    for path in (*(path for _, path in sorted(paths.items())), *last):
        yield files.text(path) or "", path
