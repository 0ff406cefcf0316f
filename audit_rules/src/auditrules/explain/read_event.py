"""A system call described in words, as `hardcost rules explain --event` takes it.

    syscall=openat arch=b64 auid=1000 exit=-EACCES path=/etc/shadow perm=r

Words are separated by spaces; a space within a word is written as a backslash and a space. Fields
have auditctl's names. Words about a file (`obj_uid=`, `filetype=`, `inode=` …) follow its `path=`.
Two have no name in rules: `special_devmajor=` and `special_devminor=`, the numbers of the device
that a device file represents. A file that is visited twice has the words of both mentions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from auditrules.explain import event_values
from auditrules.kernel.event import EXT4, FORMAT, NO_INODE, Event, FileId, VisitedName
from auditrules.kernel.field_tests import permissions
from auditrules.model.fault import Fault, RulesError
from auditrules.model.kernel_rule import PERMISSIONS, UNSET, letters
from auditrules.model.location import Location
from auditrules.model.rule import escape_word, split_words, word_columns
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

SOURCE = "--event"
"""The file name that faults give."""

_IDS = ("uid", "euid", "suid", "fsuid")
_GROUPS = ("gid", "egid", "sgid", "fsgid")
_ARCHES: Mapping[str, Arch] = MappingProxyType({
    "b64": "b64", "x86_64": "b64", "b32": "b32", "i386": "b32", "i686": "b32",
})  # fmt: skip
_LABELS = ("obj_user", "obj_role", "obj_type", "obj_lev_low", "obj_lev_high")
_SUBJECT = ("subj_user", "subj_role", "subj_type", "subj_sen", "subj_clr")
_NOT_SEEN: Mapping[str, str] = MappingProxyType({
    "comm": "the filter knows a program by its file: write exe=/PATH",
    "key": "a key is what a rule gives to a record, and no part of a call",
    "msgtype": "explain is about system calls, whose records are no events of their own",
    "dir": "write path= with the file that the call visited",
})  # fmt: skip
_FLAGS_IN: Mapping[str, str] = MappingProxyType({"open": "a1", "openat": "a2", "openat2": "flags"})
_FLAGS = {4: 0, 2: 1, 6: 2}
"""The flags of open for reading, writing, and both (fcntl.h)."""

_PID, _PPID, _SESSION = 1000, 1, 1
_DEVICE = (8, 1)
_IDENTITY = frozenset({"inode", "devmajor", "devminor"})
_FIRST_INODE = 1 << 20
"""The first invented inode number, a multiple of 32, so that each file has its own bucket."""


@dataclass(frozen=True)
class Described:
    """An event, all its words, and the names of the assumed ones."""

    event: Event
    words: tuple[str, ...]
    assumed: frozenset[str]
    exe: str | None = None


@dataclass
class _File:
    """A visited file while its words are read."""

    path: str
    numbers: dict[str, int] = field(default_factory=dict)
    label: dict[str, str] = field(default_factory=dict)


def parse_event(text: str) -> Described:
    """Return the event that a text describes.

    Raises:
        RulesError: A word is unknown, wrong, or contradicts others; all faults at once.
    """
    reader = _Reader()
    faults: list[Fault] = []
    for word, column in zip(split_words(text), word_columns(text), strict=True):
        try:
            reader.take(re.sub(r"\\([ \\])", r"\1", word))
        except event_values.WordError as error:
            faults.append(Fault(error.message, Location(SOURCE, None, column), error.remedy))
    if not faults:
        try:
            return reader.finish()
        except event_values.WordError as error:
            faults.append(Fault(error.message, Location(SOURCE), error.remedy))
    raise RulesError(tuple(faults))


class _Reader:
    """The words of an event while they are taken one by one."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self.numbers: dict[str, int] = {}
        self.subject: dict[str, str] = {}
        self.groups: set[int] = set()
        self.files: list[_File] = []

    def take(self, word: str) -> None:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise event_values.WordError(
                f"{word!r} is not a field with a value", "write, for example, auid=1000"
            )
        if name in _NOT_SEEN:
            raise event_values.WordError(f"an event has no {name}", _NOT_SEEN[name])
        if name == "path":
            self.files.append(_File(event_values.path(value)))
        elif name in _OF_A_FILE or name in _LABELS:
            self._take_of_a_file(name, value)
        elif name == "group":
            self.groups.add(event_values.number(name, value))
        else:
            self._take_once(name, value)

    def _take_of_a_file(self, name: str, value: str) -> None:
        if not self.files:
            raise event_values.WordError(
                f"{name} comes before any path", "write the file's path= first"
            )
        if name in _LABELS:
            self.files[-1].label[name] = value
        else:
            self.files[-1].numbers[name] = _OF_A_FILE[name](name, value)

    def _take_once(self, name: str, value: str) -> None:
        name = "auid" if name == "loginuid" else name
        if name in self.given:
            raise event_values.WordError(f"{name} occurs twice", "remove one of them")
        if name in _SUBJECT:
            self.subject[name] = value
        elif name in _NUMBERS:
            self.numbers[name] = _NUMBERS[name](name, value)
        elif name not in {"syscall", "arch", "perm", "exe", "exit"}:
            known = ", ".join((*_NUMBERS, "path", "perm", "exe", "exit"))
            raise event_values.WordError(
                f"there is no field {name!r}", f"there are syscall, arch, {known}"
            )
        elif name == "exe":
            event_values.path(value)
        self.given[name] = value

    # The whole ---------------------------------------------------------------------------------

    def finish(self) -> Described:
        arch = self._arch()
        event = self._task(arch, self._call(arch))
        event = replace(event, names=_names(self.files))
        wanted = self.numbers.get("success")
        if wanted is not None and (event.exit is None or event.success is not bool(wanted)):
            raise event_values.WordError(
                f"success={self.given['success']} and exit={self.given['exit']} can't both be",
                "remove one of them",
            )
        exe = self.given.get("exe")
        if exe is not None:
            own = {name.path: name.file for name in event.names}.get(exe)
            event = replace(event, exe=own or _file_id(len(self.files)))
        event = self._with_permissions(event)
        words = tuple(words_of(event, exe))
        named = {*self.given, *(("path",) if self.files else ())}
        assumed = frozenset(
            name for name in map(_field, words) if name not in named | _of_files(self)
        )
        return Described(event, words, assumed, exe)

    def _task(self, arch: Arch, call: int) -> Event:
        """Return the event without files: ids that were not given are those of the login user."""
        numbers = self.numbers
        auid = numbers.get("auid", UNSET)
        uid = numbers.get("uid", 0 if auid == UNSET else auid)
        gid = numbers.get("gid", uid)
        a0, a1, a2, a3 = (numbers.get(f"a{at}", 0) for at in range(4))
        return Event(
            arch=arch,
            call=call,
            arguments=(a0, a1, a2, a3),
            exit=self._exit(),
            pid=numbers.get("pid", _PID),
            ppid=numbers.get("ppid", _PPID),
            uid=uid,
            euid=numbers.get("euid", uid),
            suid=numbers.get("suid", uid),
            fsuid=numbers.get("fsuid", numbers.get("euid", uid)),
            gid=gid,
            egid=numbers.get("egid", gid),
            sgid=numbers.get("sgid", gid),
            fsgid=numbers.get("fsgid", numbers.get("egid", gid)),
            groups=frozenset(self.groups),
            auid=auid,
            sessionid=numbers.get("sessionid", UNSET if auid == UNSET else _SESSION),
            personality=numbers.get("pers", 0),
            open_flags=self._open_flags(arch, call),
            socket_family=numbers.get("saddr_fam"),
            subject=MappingProxyType(self.subject),
            raised=bool(numbers.get("raised", 0)),
        )

    def _arch(self) -> Arch:
        text = self.given.get("arch", "b64")
        if text not in _ARCHES:
            raise event_values.WordError(
                f"there is no architecture {text!r}", "write arch=b64 or arch=b32"
            )
        return _ARCHES[text]

    def _call(self, arch: Arch) -> int:
        text = self.given.get("syscall")
        if text is None:
            raise event_values.WordError(
                "the event names no system call", "write, for example, syscall=openat"
            )
        if text.isascii() and text.isdecimal():
            return event_values.number("syscall", text)
        if text not in lookup.calls(arch):
            raise event_values.WordError(
                f"{arch} has no system call {text!r}", "`ausyscall --dump` lists them"
            )
        return lookup.calls(arch)[text]

    def _exit(self) -> int | None:
        text = self.given.get("exit")
        if text is None:
            return -lookup.errors()["EPERM"] if self.numbers.get("success") == 0 else 0
        return None if text == "none" else event_values.exit_value(text)

    def _open_flags(self, arch: Arch, call: int) -> int | None:
        flags = self.numbers.get("flags")
        if lookup.call_name(arch, call) == "openat2":
            return flags or 0
        if flags is not None:
            raise event_values.WordError(
                "flags is only for openat2", "other calls have theirs in a1 or a2"
            )
        return None

    def _with_permissions(self, event: Event) -> Event:
        """Return the event, changed so that it has the given permissions."""
        text = self.given.get("perm")
        if text is None:
            return event
        wrong = [letter for letter in text if letter not in PERMISSIONS]
        if wrong or not text:
            raise event_values.WordError(
                f"perm={text} is none of r, w, x and a", "write, for example, perm=r"
            )
        wanted = sum(PERMISSIONS[letter] for letter in dict.fromkeys(text))
        name = lookup.call_name(event.arch, event.call)
        given = _FLAGS_IN.get(name)
        if wanted in _FLAGS and given is not None and given not in self.given:
            event = _with_flags(event, given, _FLAGS[wanted])
        has = permissions(event)
        if wanted & ~has:
            stands = f"stands for {letters(has)}" if has else "stands for no permission"
            raise event_values.WordError(
                f"{name} {stands}, not for perm={text}", "remove perm, or name another call"
            )
        return event


def _with_flags(event: Event, where: str, flags: int) -> Event:
    """Return the event with flags of open in an argument, or where openat2 has them."""
    a0, a1, a2, a3 = event.arguments
    match where:
        case "a1":
            return replace(event, arguments=(a0, flags, a2, a3))
        case "a2":
            return replace(event, arguments=(a0, a1, flags, a3))
        case _:
            return replace(event, open_flags=flags)


def _places(paths: Iterable[str]) -> list[object]:
    """Return a key for the file of each mention: its path, or the mention's own number."""
    return [at if path == event_values.ELSEWHERE else path for at, path in enumerate(paths)]


def _names(files: list[_File]) -> tuple[VisitedName, ...]:
    """Return the file of each mention. Of one path it is one file, with the words of all mentions.

    Where mentions say different things, as of an owner that the call changes, each has its own.
    """
    places = _places(file.path for file in files)
    order = list(dict.fromkeys(places))
    found: list[VisitedName] = []
    for file, place in zip(files, places, strict=True):
        whole = _File(file.path)
        for other in (*(one for one, at in zip(files, places, strict=True) if at == place), file):
            for what in _IDENTITY & whole.numbers.keys() & other.numbers.keys():
                if whole.numbers[what] != other.numbers[what]:
                    raise event_values.WordError(
                        f"{file.path} has two numbers of {what}", "remove one"
                    )
            whole.numbers |= other.numbers
            whole.label |= other.label
        found.append(_name(whole, order.index(place)))
    return tuple(found)


def _of_files(reader: _Reader) -> frozenset[str]:
    """Return the fields that were given for some file."""
    return frozenset(name for file in reader.files for name in (*file.numbers, *file.label))


def _name(file: _File, index: int) -> VisitedName:
    if not file.path:
        return VisitedName()
    numbers = file.numbers
    own = _file_id(index)
    return VisitedName(
        path=None if file.path == event_values.ELSEWHERE else file.path,
        file=FileId(
            numbers.get("devmajor", own.major),
            numbers.get("devminor", own.minor),
            numbers.get("inode", own.inode),
        ),
        mode=numbers.get("filetype", lookup.FILE_TYPES["file"]),
        uid=numbers.get("obj_uid", 0),
        gid=numbers.get("obj_gid", 0),
        label=MappingProxyType(file.label),
        special_device=(numbers.get("special_devmajor", 0), numbers.get("special_devminor", 0)),
        filesystem=numbers.get("fstype", EXT4),
    )


def _file_id(index: int) -> FileId:
    """Return the numbers of a file that has none: on one device, each in a bucket of its own."""
    return FileId(*_DEVICE, _FIRST_INODE + index)


# Words back -------------------------------------------------------------------------------------


def words_of(event: Event, exe: str | None = None) -> Iterator[str]:
    """Yield an event as words, whole, such that they describe it again."""
    yield f"syscall={lookup.call_name(event.arch, event.call)}"
    yield f"arch={event.arch}"
    yield f"exit={'none' if event.exit is None else _exit_text(event.exit)}"
    yield f"success={'no' if not event.success else 'yes'}"
    yield f"auid={_unset(event.auid)}"
    for name in (*_IDS, *_GROUPS):
        yield f"{name}={getattr(event, name)}"
    for group in sorted(event.groups):
        yield f"group={group}"
    yield f"pid={event.pid}"
    yield f"ppid={event.ppid}"
    yield f"sessionid={_unset(event.sessionid)}"
    yield from _words_of_call(event, exe)
    yield from _words_of_names(event.names)
    if event.raised:
        yield "raised=yes"


def _words_of_call(event: Event, exe: str | None) -> Iterator[str]:
    for at, argument in enumerate(event.arguments):
        yield f"a{at}={argument:#x}"
    if event.open_flags is not None:
        yield f"flags={event.open_flags:#x}"
    if event.socket_family is not None:
        yield f"saddr_fam={event.socket_family}"
    if event.personality:
        yield f"pers={event.personality}"
    if exe is not None:
        yield f"exe={escape_word(exe)}"
    for label, text in sorted(event.subject.items()):
        yield f"{label}={escape_word(text)}"
    granted = permissions(event)
    if granted:
        yield f"perm={letters(granted)}"


def _words_of_names(names: tuple[VisitedName, ...]) -> Iterator[str]:
    places = _places(
        "" if name.file.inode == NO_INODE else name.path or event_values.ELSEWHERE for name in names
    )
    order = list(dict.fromkeys(places))
    for name, place in zip(names, places, strict=True):
        usual = _numbers_of(VisitedName(file=_file_id(order.index(place)), filesystem=EXT4))
        mentions = [one for one, at in zip(names, places, strict=True) if at == place]
        unusual = [
            what
            for what, number in usual.items()
            if any(_numbers_of(mention)[what] != number for mention in mentions)
        ]
        yield from _words_of_name(name, unusual)


def _numbers_of(name: VisitedName) -> dict[str, int]:
    """Return the numbers of a file that are shown only where they are unusual."""
    return {
        "inode": name.file.inode,
        "devmajor": name.file.major,
        "devminor": name.file.minor,
        "special_devmajor": name.special_device[0],
        "special_devminor": name.special_device[1],
        "fstype": name.filesystem,
    }


def _words_of_name(name: VisitedName, unusual: Iterable[str]) -> Iterator[str]:
    if name.file.inode == NO_INODE:
        yield "path="
        return
    yield f"path={escape_word(name.path or event_values.ELSEWHERE)}"
    kinds = {number: kind for kind, number in lookup.FILE_TYPES.items()}
    kind = name.mode & FORMAT
    yield f"filetype={kinds.get(kind, f'{kind:#x}')}"
    yield f"obj_uid={name.uid}"
    yield f"obj_gid={name.gid}"
    numbers = _numbers_of(name)
    for what in unusual:
        yield f"{what}={numbers[what]:#x}" if what == "fstype" else f"{what}={numbers[what]}"
    for label, text in sorted(name.label.items()):
        yield f"{label}={escape_word(text)}"


def _field(word: str) -> str:
    return word.partition("=")[0]


def _unset(number: int) -> str:
    return "unset" if number == UNSET else str(number)


def _exit_text(number: int) -> str:
    names = {-value: f"-{name}" for name, value in lookup.errors().items()}
    return names.get(number, str(number))


_Reading = Callable[[str, str], int]
_NUMBERS: Mapping[str, _Reading] = MappingProxyType({
    "success": event_values.yes_or_no,
    **dict.fromkeys(("auid", *_IDS, *_GROUPS, "sessionid"), event_values.an_id),
    **dict.fromkeys(("pid", "ppid", "pers", "saddr_fam"), event_values.number),
    **dict.fromkeys(("a0", "a1", "a2", "a3", "flags"), event_values.number),
    "raised": event_values.yes_or_no,
})  # fmt: skip
_OF_A_FILE: Mapping[str, _Reading] = MappingProxyType({
    "filetype": event_values.file_type, "fstype": event_values.file_system,
    "obj_uid": event_values.an_id, "obj_gid": event_values.an_id,
    "inode": event_values.number, "devmajor": event_values.number, "devminor": event_values.number,
    "special_devmajor": event_values.number, "special_devminor": event_values.number,
})  # fmt: skip
