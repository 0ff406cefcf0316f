"""An event in words, as `hardcost rules explain --event` takes them."""

from __future__ import annotations

from collections.abc import Iterator

from auditrules.kernel.event import EXT4, FORMAT, NO_INODE, Event, VisitedName
from auditrules.kernel.field_tests import permissions
from auditrules.model.kernel_rule import UNSET, letters
from auditrules.model.rule import escape_word
from auditrules.prove.relation import Difference
from auditrules.tables import lookup

_IDS = (
    ("euid", "uid"), ("suid", "uid"), ("fsuid", "euid"),
    ("egid", "gid"), ("sgid", "gid"), ("fsgid", "egid"),
)  # fmt: skip
_TYPES = {number: name for name, number in lookup.FILE_TYPES.items()}


def difference_words(difference: Difference) -> str:
    """Return the words of the event of a difference."""
    event = difference.event
    if difference.list == "exit":
        words = [*_words(event, _program(difference), difference.asked)]
    else:
        words = [*_of_task(event)]
        if difference.record_type is not None:
            kinds = {number: name for name, number in lookup.records().items()}
            kind = difference.record_type
            words.insert(0, f"msgtype={kinds.get(kind, str(kind))}")
    return " ".join(words)


def remark(difference: Difference) -> str | None:
    """Return the values chosen for unknowns, and how to give them; None if there are none."""
    chosen = [f"{name} is {number}" for name, number in sorted(difference.resolved.items())]
    how = ["--passwd and --group"] if chosen else []
    chosen += [f"{path} is a directory" for path in difference.directories]
    chosen += [f"{path} is no directory" for path in difference.no_directories]
    if not chosen:
        return None
    if difference.directories or difference.no_directories:
        how.append("--paths or --root")
    return f"where {', '.join(chosen)}; pass this to explain with {' and '.join(how)}"


def _program(difference: Difference) -> str | None:
    """Return which program named by a rule makes the call, if any does."""
    found = [path for path, file in difference.files.items() if file == difference.event.exe]
    return min(found, default=None)


def _words(event: Event, exe: str | None, asked: frozenset[str]) -> Iterator[str]:
    yield f"syscall={lookup.call_name(event.arch, event.call)}"
    yield f"arch={event.arch}"
    yield from _of_task(event)
    yield "exit=none" if event.exit is None else f"exit={event.exit}"
    for index, argument in enumerate(event.arguments):
        if argument:
            yield f"a{index}={argument:#x}"
    if event.open_flags:
        yield f"flags={event.open_flags:#x}"
    if event.socket_family is not None:
        yield f"saddr_fam={event.socket_family}"
    if exe is not None:
        yield f"exe={escape_word(exe)}"
    for name in event.names:
        # One mention's words hold for the others of its path that don't say otherwise.
        whole = any(other != name and other.path == name.path for other in event.names)
        yield from _of_name(name, asked, whole=whole)
    granted = permissions(event)
    if granted:
        yield f"perm={letters(granted)}"
    if event.raised:
        yield "raised=yes"


def _of_task(event: Event) -> Iterator[str]:
    yield f"auid={'unset' if event.auid == UNSET else event.auid}"
    yield f"uid={event.uid}"
    yield f"gid={event.gid}"
    # The others are those, where they are not named.
    for what, base in _IDS:
        value: int = getattr(event, what)
        if value != getattr(event, base):
            yield f"{what}={value}"
    for group in sorted(event.groups):
        yield f"group={group}"
    session = UNSET if event.auid == UNSET else 1
    usual = (
        ("pid", event.pid, 1000),
        ("ppid", event.ppid, 1),
        ("sessionid", event.sessionid, session),
    )
    for what, number, ordinary in usual:
        if number != ordinary:
            unset = what == "sessionid" and number == UNSET
            yield f"{what}={'unset' if unset else number}"
    if event.personality:
        yield f"pers={event.personality}"
    for what, text in sorted(event.subject.items()):
        yield f"{what}={escape_word(text)}"


def _of_name(name: VisitedName, asked: frozenset[str], *, whole: bool) -> Iterator[str]:
    """Yield the words of a file: all (`whole`), or those that `explain` would not assume."""
    if name.file.inode == NO_INODE:
        yield "path="
        return
    yield f"path={escape_word(name.path or '(elsewhere)')}"
    if "inode" in asked:
        yield f"inode={name.file.inode}"
    kind = name.mode & FORMAT
    usual = (
        ("devmajor", name.file.major, 8),
        ("devminor", name.file.minor, 1),
        ("special_devmajor", name.special_device[0], 0),
        ("special_devminor", name.special_device[1], 0),
        ("obj_uid", name.uid, 0),
        ("obj_gid", name.gid, 0),
    )
    for what, number, ordinary in usual:
        if whole or number != ordinary:
            yield f"{what}={number}"
    if whole or kind != lookup.FILE_TYPES["file"]:
        yield f"filetype={_TYPES.get(kind, f'{kind:#x}')}"
    if whole or name.filesystem != EXT4:
        yield f"fstype={name.filesystem:#x}"
    for what, text in sorted(name.label.items()):
        yield f"{what}={escape_word(text)}"
