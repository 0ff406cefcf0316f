"""What a battery is made of, as data: files, the processes that make calls, and the calls.

`as_json` of each is what the program's job takes (`crates/conformance/src/job.rs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from auditrules.tables.lookup import Arch

Json = dict[str, Any]


@dataclass(frozen=True)
class Text:
    """The address of a string, as an argument."""

    text: str


@dataclass(frozen=True)
class Data:
    """The address of bytes, as an argument."""

    content: bytes


@dataclass(frozen=True)
class Space:
    """The address of so many zero bytes, as an argument."""

    size: int


@dataclass(frozen=True)
class ArgumentWords:
    """The address of words of the architecture's size, as an argument."""

    words: tuple[Argument, ...]


Argument = int | Text | Data | Space | ArgumentWords


@dataclass(frozen=True)
class Step:
    """Something to do with a file, by the program: `kind` and the fields that it takes."""

    kind: str
    path: str
    fields: Mapping[str, object]

    def as_json(self) -> Json:
        """Return the step as the program takes it."""
        return {"step": self.kind, "path": self.path, **self.fields}


def mount(path: str) -> Step:
    """Mount an empty file system in memory."""
    return Step("mount", path, {})


def directory(path: str, mode: int = 0o755, owner: tuple[int, int] = (0, 0)) -> Step:
    """Make a directory."""
    return Step("directory", path, {"mode": mode, "owner": owner})


def file(path: str, mode: int = 0o644, owner: tuple[int, int] = (0, 0)) -> Step:
    """Make a file."""
    return Step("file", path, {"mode": mode, "owner": owner})


def program(path: str, mode: int = 0o755) -> Step:
    """Make a copy of the program, which ends at once when it is executed without arguments."""
    return Step("copy", path, {"from": "/proc/self/exe", "mode": mode})


def device(path: str, number: tuple[int, int], mode: int = 0o666) -> Step:
    """Make a character device."""
    return Step("device", path, {"mode": mode, "number": number})


def fifo(path: str, mode: int = 0o666) -> Step:
    """Make a named pipe."""
    return Step("fifo", path, {"mode": mode})


def link(path: str, to: str) -> Step:
    """Make another name for a file."""
    return Step("link", path, {"to": to})


def symlink(path: str, to: str) -> Step:
    """Make a symbolic link."""
    return Step("symlink", path, {"to": to})


def remove(path: str) -> Step:
    """Remove a file or an empty directory, if it is there."""
    return Step("remove", path, {})


def unmount(path: str) -> Step:
    """Take away what is mounted, if anything is."""
    return Step("unmount", path, {})


@dataclass(frozen=True)
class Worker:
    """A process that makes calls; ids are real, effective and saved.

    `held` are files that it holds open, as 1003 and on; 1001 is a datagram socket of the Internet,
    1002 one of the system's own.
    """

    pid: int
    program: str
    uid: tuple[int, int, int] = (0, 0, 0)
    gid: tuple[int, int, int] = (0, 0, 0)
    auid: int | None = None
    fsuid: int | None = None
    fsgid: int | None = None
    groups: tuple[int, ...] = ()
    personality: int = 0
    held: tuple[str, ...] = ()

    def as_json(self) -> Json:
        """Return the worker as the program takes it."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class Call:
    """A system call to make: `worker` is an index; what is left out of six arguments is 0.

    `child`: a child of the worker makes it, as it changes or ends the process. `closes`: the worker
    closes what it opened. `before` and `after` are done by the daemon, each time, so that the call
    finds the same state.
    """

    name: str
    worker: int
    arch: Arch
    number: int
    arguments: tuple[Argument, ...] = ()
    child: bool = False
    closes: bool = False
    before: tuple[Step, ...] = ()
    after: tuple[Step, ...] = ()

    def as_json(self) -> Json:
        """Return the call as the program takes it."""
        return {
            "worker": self.worker,
            "arch": self.arch,
            "number": self.number,
            "arguments": [_argument(argument) for argument in self.arguments],
            "child": self.child,
            "closes": self.closes,
            "before": [step.as_json() for step in self.before],
            "after": [step.as_json() for step in self.after],
        }

    def __str__(self) -> str:
        """Return the call as a reader knows it."""
        shown = ", ".join(_shown(argument) for argument in self.arguments)
        return f"{self.arch} {self.name}({shown}) by worker {self.worker}"


def _argument(argument: Argument) -> int | Json:
    match argument:
        case Text(text):
            return {"text": text}
        case Data(content):
            return {"bytes": list(content)}
        case Space(size):
            return {"space": size}
        case ArgumentWords(words):
            return {"words": [_argument(word) for word in words]}
        case number:
            return number


def _shown(argument: Argument) -> str:
    match argument:
        case Text(text):
            return repr(text)
        case Data(content):
            return content.hex()
        case Space(size):
            return f"[{size} bytes]"
        case ArgumentWords(words):
            return f"[{', '.join(_shown(word) for word in words)}]"
        case number:
            return str(number)
