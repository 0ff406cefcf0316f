"""Sysctls: those of the price list that are in force, and those that a file sets.

The folders are those of sysctl.d(5). Of several files of one name, that of the first folder counts;
of several lines that set a key, the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hardcost.errors import InputError
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.prices.listed import listed
from hardcost.profiles.importers.sysctl import read_sysctls_text
from hardcost.profiles.kernel.defaults import default_of

_FOLDERS = (
    "/etc/sysctl.d",
    "/run/sysctl.d",
    "/usr/local/lib/sysctl.d",
    "/usr/lib/sysctl.d",
    "/lib/sysctl.d",
)
_LAST = "/etc/sysctl.conf"
_EMPTY = "no sysctl is set in it"
_UNSET = "no file sets it: it is the kernel's default, or was set by hand"
_DISTRIBUTIONS = ("/usr/lib/", "/lib/")


def read(files: MachineFiles) -> Survey:
    """Return the sysctls in force, each with the line that sets it."""
    notes: list[str] = []
    written = {one.path: one for one in _written(files, notes)}
    known = {one.control.path: one.control for one in listed() if isinstance(one.control, Sysctl)}
    found = []
    for path in dict.fromkeys((*written, *known)):
        set_here = written.get(path)
        written_value = None if set_here is None else set_here.value
        value = _value(files, path) if files.live else written_value
        if value is None:
            continue
        control = Sysctl((set_here or known[path]).key, value)
        if _is_listed(control) or value == written_value:
            found.append(_in_force(control, set_here))
        elif set_here is not None:
            notes.append(f"{set_here.place} sets {set_here.name}, and the kernel has {value}")
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


def _is_listed(control: Sysctl) -> bool:
    return any(one.name == control.name for one in listed())


def _value(files: MachineFiles, path: str) -> str | None:
    """Return what the kernel has; None where it has no such key, or may not be asked."""
    text = files.text(path)
    return None if text is None else " ".join(text.split())


def _written(files: MachineFiles, notes: list[str]) -> Iterator[Sysctl]:
    """Yield what files set, in the order in which systemd-sysctl reads them."""
    paths: dict[str, str] = {}
    for folder in _FOLDERS:
        for name in files.names(folder):
            if name.endswith(".conf"):
                paths.setdefault(name, f"{folder}/{name}")
    ordered = [path for _, path in sorted(paths.items())]
    for path in (*ordered, *(() if "99-sysctl.conf" in paths else (_LAST,))):
        text = files.text(path)
        if not text:
            continue
        try:
            found = read_sysctls_text(text, path, leave_out_faulty=True)
        except InputError as error:
            notes += [one.message for one in error.problems if one.message != _EMPTY]
            continue
        notes += [] if path.startswith(_DISTRIBUTIONS) else found.notes
        yield from found.sysctls
