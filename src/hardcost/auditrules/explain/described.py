"""A system call described in words, as `hardcost rules explain --event` takes it.

    syscall=openat arch=b64 auid=1000 exit=-EACCES path=/etc/shadow perm=r

Words are separated by spaces; a space within a word is written as a backslash and a space. Fields
have auditctl's names. Words about a file (`obj_uid=`, `filetype=` …) follow its `path=`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from hardcost.auditrules.event import NO_INODE, Event, FileId, Name
from hardcost.auditrules.kernelrule import UNSET
from hardcost.auditrules.rule import Fault, RulesError, split_words, word_columns
from hardcost.auditrules.semantics import permissions
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from hardcost.auditrules.tables.lookup import Arch

SOURCE = "--event"
"""What faults name as their file."""

ELSEWHERE = "(elsewhere)"
"""The path of a file that no rule's path or tree holds."""

_IDS = ("uid", "euid", "suid", "fsuid")
_GROUPS = ("gid", "egid", "sgid", "fsgid")
_LETTERS: Mapping[str, int] = MappingProxyType({"r": 4, "w": 2, "x": 1, "a": 8})
_ARCHES: Mapping[str, Arch] = MappingProxyType({
    "b64": "b64", "x86_64": "b64", "b32": "b32", "i386": "b32", "i686": "b32",
})  # fmt: skip
_LABELS = ("obj_user", "obj_role", "obj_type", "obj_lev_low", "obj_lev_high")
_SUBJECT = ("subj_user", "subj_role", "subj_type", "subj_sen", "subj_clr")
_NOT_SEEN: Mapping[str, str] = MappingProxyType({
    "comm": "the filter knows a program by its file: write exe=/PATH",
    "key": "a key is what a rule gives to a record, and no part of a call",
    "msgtype": "explain tells of system calls, whose records are no events of their own",
    "dir": "write path= with the file that the call visited",
})  # fmt: skip
_FLAGS_IN: Mapping[str, str] = MappingProxyType({"open": "a1", "openat": "a2", "openat2": "flags"})
_FLAGS = {4: 0, 2: 1, 6: 2}
"""What open's flags are by what is asked for: read only, write only, both (fcntl.h)."""

_PID, _PPID, _SESSION = 1000, 1, 1
_FIRST_INODE = 1 << 20
"""Made-up inode numbers begin here: a multiple of 32, so that each file has a bucket of its own."""


@dataclass(frozen=True)
class Described:
    """An event, with all its words, and the names of those that were not given but assumed."""

    event: Event
    words: tuple[str, ...]
    assumed: frozenset[str]
    exe: str | None = None


class _WordError(Exception):
    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


@dataclass
class _File:
    """A visited file while its words are read."""

    path: str
    numbers: dict[str, int] = field(default_factory=dict)
    label: dict[str, str] = field(default_factory=dict)


def described(text: str) -> Described:
    """Return the event that a text describes.

    Raises:
        RulesError: A word is unknown, wrong, or at odds with others; all faults at once.
    """
    reader = _Reader()
    faults: list[Fault] = []
    for word, column in zip(split_words(text), word_columns(text), strict=True):
        try:
            reader.take(re.sub(r"\\([ \\])", r"\1", word))
        except _WordError as error:
            faults.append(Fault(error.message, SOURCE, None, error.remedy, column))
    if not faults:
        try:
            return reader.finish()
        except _WordError as error:
            faults.append(Fault(error.message, SOURCE, None, error.remedy))
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
            raise _WordError(f"{word!r} is not a field and a value", "write such as auid=1000")
        if name in _NOT_SEEN:
            raise _WordError(f"an event has no {name}", _NOT_SEEN[name])
        if name == "path":
            self.files.append(_File(_path(value)))
        elif name in _OF_A_FILE or name in _LABELS:
            self._take_of_a_file(name, value)
        elif name == "group":
            self.groups.add(_number(name, value))
        else:
            self._take_once(name, value)

    def _take_of_a_file(self, name: str, value: str) -> None:
        if not self.files:
            raise _WordError(f"{name} stands before a path", "write the file's path= first")
        if name in _LABELS:
            self.files[-1].label[name] = value
        else:
            self.files[-1].numbers[name] = _OF_A_FILE[name](name, value)

    def _take_once(self, name: str, value: str) -> None:
        name = "auid" if name == "loginuid" else name
        if name in self.given:
            raise _WordError(f"{name} stands twice", "leave one of them out")
        if name in _SUBJECT:
            self.subject[name] = value
        elif name in _NUMBERS:
            self.numbers[name] = _NUMBERS[name](name, value)
        elif name not in {"syscall", "arch", "perm", "exe", "exit"}:
            known = ", ".join((*_NUMBERS, "path", "perm", "exe", "exit"))
            raise _WordError(f"there is no field {name!r}", f"there are syscall, arch, {known}")
        elif name == "exe":
            _path(value)
        self.given[name] = value

    # The whole ---------------------------------------------------------------------------------

    def finish(self) -> Described:
        arch = self._arch()
        files = _distinct(self.files)
        # A file that is visited twice is one file.
        by_path = {file.path: _name(file, index) for index, file in enumerate(files)}
        event = self._task(arch, self._call(arch))
        event = replace(event, names=tuple(by_path[file.path] for file in self.files))
        wanted = self.numbers.get("success")
        if wanted is not None and (event.exit is None or event.success is not bool(wanted)):
            raise _WordError(
                f"success={self.given['success']} and exit={self.given['exit']} can't both be",
                "leave one of them out",
            )
        exe = self.given.get("exe")
        if exe is not None:
            own = by_path.get(exe)
            event = replace(event, exe=own.file if own else _file_id(len(files)))
        event = self._permitted(event)
        words = tuple(words_of(event, exe))
        told = {*self.given, *(("path",) if self.files else ())}
        assumed = frozenset(
            name for name in map(_field, words) if name not in told | _of_files(self)
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
            raise _WordError(f"there is no architecture {text!r}", "write arch=b64 or arch=b32")
        return _ARCHES[text]

    def _call(self, arch: Arch) -> int:
        text = self.given.get("syscall")
        if text is None:
            raise _WordError("the event names no system call", "write such as syscall=openat")
        if text.isascii() and text.isdecimal():
            return int(text)
        if text not in lookup.calls(arch):
            raise _WordError(f"{arch} has no system call {text!r}", "`ausyscall --dump` lists them")
        return lookup.calls(arch)[text]

    def _exit(self) -> int | None:
        text = self.given.get("exit")
        if text is None:
            return -lookup.errors()["EPERM"] if self.numbers.get("success") == 0 else 0
        return None if text == "none" else _exit_value(text)

    def _open_flags(self, arch: Arch, call: int) -> int | None:
        flags = self.numbers.get("flags")
        if lookup.call_name(arch, call) == "openat2":
            return flags or 0
        if flags is not None:
            raise _WordError("flags is openat2's", "others have theirs in a1 or a2")
        return None

    def _permitted(self, event: Event) -> Event:
        """Return the event such that it stands for the permissions that were given."""
        text = self.given.get("perm")
        if text is None:
            return event
        wrong = [letter for letter in text if letter not in _LETTERS]
        if wrong or not text:
            raise _WordError(f"perm={text} is none of r, w, x and a", "write such as perm=r")
        wanted = sum(_LETTERS[letter] for letter in dict.fromkeys(text))
        name = lookup.call_name(event.arch, event.call)
        given = _FLAGS_IN.get(name)
        if wanted in _FLAGS and given is not None and given not in self.given:
            event = _with_flags(event, given, _FLAGS[wanted])
        has = permissions(event)
        if wanted & ~has:
            letters = "".join(letter for letter, bit in _LETTERS.items() if has & bit)
            stands = f"stands for {letters}" if letters else "stands for no permission"
            raise _WordError(
                f"{name} {stands}, not for perm={text}", "leave perm out, or name another call"
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


def _distinct(files: list[_File]) -> list[_File]:
    """Return each file once, with the words that any of its mentions has."""
    found: dict[str, _File] = {}
    for file in files:
        first = found.setdefault(file.path, file)
        first.numbers |= file.numbers
        first.label |= file.label
    return list(found.values())


def _of_files(reader: _Reader) -> frozenset[str]:
    """Return the fields that were given for some file."""
    return frozenset(name for file in reader.files for name in (*file.numbers, *file.label))


def _name(file: _File, index: int) -> Name:
    if not file.path:
        return Name()
    numbers = file.numbers
    own = _file_id(index)
    return Name(
        path=None if file.path == ELSEWHERE else file.path,
        file=FileId(
            numbers.get("devmajor", own.major),
            numbers.get("devminor", own.minor),
            numbers.get("inode", own.inode),
        ),
        mode=numbers.get("filetype", lookup.FILE_TYPES["file"]),
        uid=numbers.get("obj_uid", 0),
        gid=numbers.get("obj_gid", 0),
        label=MappingProxyType(file.label),
        filesystem=numbers.get("fstype", 0),
    )


def _file_id(index: int) -> FileId:
    """Return the numbers of a file that has none: on one device, each in a bucket of its own."""
    return FileId(8, 1, _FIRST_INODE + index)


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
    for visited in event.names:
        yield from _words_of_name(visited)
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
        yield f"exe={_escaped(exe)}"
    for label, text in sorted(event.subject.items()):
        yield f"{label}={_escaped(text)}"
    granted = permissions(event)
    if granted:
        yield f"perm={''.join(letter for letter, bit in _LETTERS.items() if granted & bit)}"


def _words_of_name(name: Name) -> Iterator[str]:
    if name.file.inode == NO_INODE:
        yield "path="
        return
    yield f"path={_escaped(name.path or ELSEWHERE)}"
    kinds = {number: kind for kind, number in lookup.FILE_TYPES.items()}
    yield f"filetype={kinds.get(name.mode & 0o170000, 'file')}"
    yield f"obj_uid={name.uid}"
    yield f"obj_gid={name.gid}"
    if not _FIRST_INODE <= name.file.inode < 2 * _FIRST_INODE:
        yield f"inode={name.file.inode}"
    for label, text in sorted(name.label.items()):
        yield f"{label}={_escaped(text)}"


def _field(word: str) -> str:
    return word.partition("=")[0]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(" ", "\\ ")


def _unset(number: int) -> str:
    return "unset" if number == UNSET else str(number)


def _exit_text(number: int) -> str:
    names = {-value: f"-{name}" for name, value in lookup.errors().items()}
    return names.get(number, str(number))


# Values -----------------------------------------------------------------------------------------


def _path(value: str) -> str:
    if value in {"", ELSEWHERE}:
        return value
    if not value.startswith("/") or "/../" in f"{value}/":
        raise _WordError(f"{value!r} is not a whole path", "begin it with /, without ..")
    return value.rstrip("/") or "/"


def _number(name: str, value: str) -> int:
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}", value):
        raise _WordError(f"{name}={value} is not a number", f"write such as {name}=0")
    return int(value, 16 if value[:2] in {"0x", "0X"} else 10)


def _id(name: str, value: str) -> int:
    if value in {"unset", "-1"} and name in {"auid", "sessionid"}:
        return UNSET
    if value == "root":
        return 0
    if not value.isdecimal():
        raise _WordError(f"{name}={value} is not a number", "write the user's or group's number")
    number = _number(name, value)
    if number > UNSET:
        raise _WordError(f"{name}={value} is too large", f"the largest is {UNSET}")
    return number


def _yes_or_no(name: str, value: str) -> int:
    if value not in {"yes", "no", "1", "0"}:
        raise _WordError(f"{name}={value} is neither yes nor no", f"write {name}=yes or {name}=no")
    return int(value in {"yes", "1"})


def _exit_value(text: str) -> int:
    found = re.fullmatch(r"(-?)(E[A-Z0-9]+)", text)
    if found and found[2] in lookup.errors():
        return -lookup.errors()[found[2]] if found[1] else lookup.errors()[found[2]]
    if not re.fullmatch(r"-?[0-9]{1,19}", text):
        raise _WordError(
            f"exit={text} is no result", "write such as exit=0, exit=-13, exit=-EACCES"
        )
    return int(text)


def _file_type(name: str, value: str) -> int:
    if value not in lookup.FILE_TYPES:
        raise _WordError(
            f"there is no {name} {value!r}", f"there are {', '.join(lookup.FILE_TYPES)}"
        )
    return lookup.FILE_TYPES[value]


def _file_system(name: str, value: str) -> int:
    return lookup.FILE_SYSTEMS[value] if value in lookup.FILE_SYSTEMS else _number(name, value)


_Reading = Callable[[str, str], int]
_NUMBERS: Mapping[str, _Reading] = MappingProxyType({
    "success": _yes_or_no,
    **dict.fromkeys(("auid", *_IDS, *_GROUPS, "sessionid"), _id),
    **dict.fromkeys(("pid", "ppid", "pers", "saddr_fam", "a0", "a1", "a2", "a3", "flags"), _number),
    "raised": _yes_or_no,
})  # fmt: skip
_OF_A_FILE: Mapping[str, _Reading] = MappingProxyType({
    "filetype": _file_type, "fstype": _file_system, "obj_uid": _id, "obj_gid": _id,
    "inode": _number, "devmajor": _number, "devminor": _number,
})  # fmt: skip
