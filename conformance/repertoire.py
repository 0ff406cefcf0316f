"""The calls that a battery makes: each by several workers, by both entries into the kernel."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from auditrules.tables import lookup
from auditrules.tables.lookup import Arch
from conformance.calls import (
    Argument,
    ArgumentWords,
    Call,
    Data,
    Space,
    Step,
    Text,
    directory,
    file,
    remove,
    symlink,
    unmount,
)
from conformance.files_and_workers import FIELD, INNER, OPEN, ROOTS, WORKERS, YARD

_AT = -100  # AT_FDCWD
_INTERNET, _UNIX, _HELD, _HELD_DIRECTORY = 1001, 1002, 1003, 1004
_BIND_MOUNT = 4096
_SHOWN = 4  # arguments in a record
_TAG = 0x5000  # where the numbers begin by which calls with the same arguments are distinguished


@dataclass(frozen=True)
class _Template:
    """A call, whoever makes it: `who` can, by `arches`."""

    name: str
    arguments: tuple[Argument, ...]
    who: frozenset[int]
    arches: tuple[Arch, ...]
    number: int | None
    child: bool
    closes: bool
    before: tuple[Step, ...]
    after: tuple[Step, ...]


_ALL = frozenset(range(len(WORKERS)))
_USERS = _ALL - ROOTS


def _t(  # noqa: PLR0913  (what a call can have)
    name: str,
    *arguments: Argument,
    who: Iterable[int] = _ALL,
    arches: tuple[Arch, ...] = lookup.ARCHES,
    number: int | None = None,
    child: bool = False,
    closes: bool = False,
    before: tuple[Step, ...] = (),
    after: tuple[Step, ...] = (),
) -> _Template:
    return _Template(name, arguments, frozenset(who), arches, number, child, closes, before, after)


def _p(name: str) -> Text:
    return Text(f"{FIELD}/{name}")


def _internet(port: int, address: str = "127.0.0.1") -> Data:
    parts = bytes(int(part) for part in address.split("."))
    return Data(struct.pack("=H", 2) + struct.pack(">H", port) + parts + bytes(8))


def _unix(path: str) -> Data:
    return Data(struct.pack("=H", 1) + path.encode() + b"\0")


def _how(flags: int, resolve: int = 0) -> Data:
    return Data(struct.pack("=QQQ", flags, 0, resolve))


_NEW, _OLD, _SUB = f"{OPEN}/new", f"{OPEN}/old", f"{OPEN}/newdir"
_INSIDE = f"{FIELD}/dir/new"
_MADE = (file(_OLD, 0o666), remove(_NEW))
_BOTH = (file(_OLD, 0o666), file(_NEW, 0o666, (1000, 1000)))
_GONE = (remove(_NEW),)
_R, _W, _RW = os.O_RDONLY, os.O_WRONLY, os.O_RDWR
_CREATE = os.O_CREAT | os.O_WRONLY

_OPENING = (
    _t("open", _p("f1"), _R, closes=True),
    _t("open", _p("f7"), _W, closes=True),
    _t("open", _p("f6"), _RW, closes=True),
    _t("open", _p("f4"), 3, closes=True),
    _t("open", _p("secret/s"), _R, closes=True),
    _t("open", _p("nowhere"), _R),
    _t("open", _p("link"), _R, closes=True),
    _t("open", _p("dangling"), _W),
    _t("open", _p("null"), _RW, closes=True),
    _t("open", _p("dir"), os.O_RDONLY | os.O_DIRECTORY, closes=True),
    _t("open", _p("f1"), os.O_DIRECTORY),
    _t("open", Text(_NEW), _CREATE, 0o644, closes=True, before=_GONE),
    _t("open", Text(_INSIDE), _CREATE, 0o644, closes=True, before=(remove(_INSIDE),)),
    _t("open", _p("f7"), _CREATE | os.O_EXCL, 0o644),
    _t("openat", _AT, _p("f2"), _R, closes=True),
    _t("openat", _AT, _p("f3"), _W, closes=True),
    _t("openat", _AT, _p("dir/sub/c"), _RW, closes=True),
    _t("openat", _AT, _p("dirlink/a"), _R, closes=True),
    _t("openat", _AT, _p("dir/hard"), _R, closes=True),
    _t("openat", _AT, Text("field/dir/b"), _R, closes=True),
    _t("openat", _AT, Text(f"{YARD}/y1"), _W, closes=True),
    _t("openat", _AT, Text(f"{YARD}/y2"), _R, closes=True),
    _t("openat", _AT, Text(f"{YARD}/dir/y3"), _R, closes=True),
    _t("openat", _AT, Text(f"{INNER}/m"), _W, closes=True),
    _t("openat", _AT, Text(f"{YARD}/absent"), _R),
    _t("openat", _HELD_DIRECTORY, Text("sub/c"), _R, closes=True),
    _t("openat", _HELD_DIRECTORY, Text("absent"), _R),
    _t("openat", _AT, Text(_NEW), _CREATE, 0o600, closes=True, before=_GONE),
    _t("openat", _AT, _p("f8"), _CREATE, 0o600, closes=True),
    _t("openat2", _AT, _p("f1"), _how(_R), 24, closes=True),
    _t("openat2", _AT, _p("f6"), _how(_RW), 24, closes=True),
    _t("openat2", _AT, _p("link"), _how(_R, 4), 24),  # RESOLVE_NO_SYMLINKS
    # One that fails before its flags are read is not here: for perm the kernel then takes what an
    # earlier call of the process left in the same place (the union in struct audit_context).
    _t("open", _p("sticky/link"), _R, closes=True),
    _t("open", _p("sticky/file"), _CREATE, 0o644, closes=True),
    _t("openat", _AT, _p("sticky/fifo"), os.O_RDWR | os.O_CREAT, 0o644, closes=True),
    _t("creat", _p("f8"), 0o644, closes=True),
    _t("creat", Text(_NEW), 0o644, closes=True, before=_GONE),
    _t("creat", _p("secret/none"), 0o644, who=_USERS),
)

_LOOKING = (
    _t("stat", _p("f1"), Space(256)),
    _t("stat", _p("nowhere"), Space(256)),
    _t("stat", _p("secret/s"), Space(256)),
    _t("lstat", _p("link"), Space(256)),
    _t("stat", _p("link"), Space(256)),
    _t("newfstatat", _AT, _p("dir/a"), Space(256), 0),
    _t("newfstatat", _HELD_DIRECTORY, Text("b"), Space(256), 0),
    _t("statx", _AT, Text(f"{INNER}/m"), 0, 0x7FF, Space(256)),
    _t("stat", _p("sticky/link"), Space(256)),
    _t("statfs", _p("f5"), Space(256)),
    _t("access", _p("f4"), 4),
    _t("access", _p("null"), 2),
    _t("faccessat", _AT, _p("f2"), 2),
    _t("faccessat2", _AT, _p("f3"), 2, 0x200),
    _t("readlink", _p("link"), Space(64), 64),
    _t("readlink", _p("f1"), Space(64), 64),
    _t("readlinkat", _AT, _p("dangling"), Space(64), 64),
    _t("getxattr", _p("f6"), Text("user.none"), Space(16), 16),
    _t("listxattr", _p("dir/a"), Space(64), 64),
    _t("getdents64", _HELD_DIRECTORY, Space(16), 1),
    _t("fstat", _HELD, Space(256)),
    _t("read", _HELD, Space(16), 0),
    _t("read", 999, Space(16), 1),
    _t("write", 999, Space(16), 1),
    _t("chdir", _p("dir"), child=True),
    _t("chdir", _p("secret"), child=True),
    _t("fchdir", _HELD_DIRECTORY, child=True),
    _t("chroot", _p("dir"), child=True),
    _t("quotactl", 0x80000700, Text("/nowhere"), 0, Space(64)),
)

_CHANGING = (
    _t("chmod", _p("f6"), 0o666),
    _t("chmod", _p("sticky/link"), 0o644),
    _t("chmod", _p("f2"), 0o600),
    _t("chmod", Text(f"{YARD}/y2"), 0o600),
    _t("fchmodat", _AT, _p("f3"), 0o664),
    _t("fchmod", _HELD, 0o644),
    _t("chown", _p("f5"), 33, 33),
    _t("chown", _p("f4"), 0, 0),
    _t("lchown", _p("link"), 0, 0),
    _t("fchownat", _AT, _p("dir/b"), 1000, 1000, 0),
    _t("fchown", _HELD, 1000, 0),
    _t("truncate", _p("f7"), 8),
    _t("truncate", _p("secret/s"), 8),
    _t("truncate", _p("dir"), 8),
    _t("ftruncate", _HELD, 8),
    _t("utimensat", _AT, _p("f6"), 0, 0),
    _t("utime", _p("f2"), 0),
    _t("utimes", _p("nowhere"), 0),
    _t("setxattr", _p("f1"), Text("trusted.t"), Text("v"), 1, 0),
    _t("lsetxattr", _p("link"), Text("trusted.t"), Text("v"), 1, 0),
    _t("fsetxattr", _HELD, Text("user.t"), Text("v"), 1, 0),
    _t("removexattr", _p("f3"), Text("trusted.none")),
    _t("mkdir", _p("dir"), 0o755),
    _t("rmdir", _p("dir")),
    _t("unlink", _p("nowhere")),
    _t("unlink", _p("f1"), who=_USERS),
    _t("unlink", _p("dir/a"), who=_USERS),
    _t("unlinkat", _HELD_DIRECTORY, Text("absent"), 0),
    _t("rename", _p("f1"), _p("f2"), who=_USERS),
    _t("rename", _p("nowhere"), _p("f2")),
    _t("rename", _p("f1"), Text(f"{YARD}/f1")),
    _t("link", _p("f1"), _p("f2")),
    _t("link", _p("f4"), Text(_NEW), who=_USERS, before=_GONE),  # protected_hardlinks
    _t("link", Text(f"{YARD}/y1"), Text(_NEW), before=_GONE),
    _t("symlink", _p("f1"), _p("f2")),
    _t("mount", _p("f6"), _p("f7"), 0, _BIND_MOUNT, who=_USERS),
    _t("mount", _p("nowhere"), _p("f2"), 0, _BIND_MOUNT),
    _t("umount2", _p("f1"), 0),
    _t("swapoff", _p("f5")),
    _t("acct", _p("dir"), who=ROOTS),
    _t("pivot_root", _p("f1"), _p("dir")),
)

_MAKING = (
    _t("link", _p("f6"), Text(_NEW), before=_GONE, after=_GONE),
    _t("link", _p("f5"), Text(_INSIDE), before=(remove(_INSIDE),), after=(remove(_INSIDE),)),
    _t("linkat", _AT, _p("dir/sub/c"), _AT, Text(_NEW), 0, before=_GONE, after=_GONE),
    _t("symlink", _p("f1"), Text(_NEW), before=_GONE),
    _t("symlinkat", _p("f1"), _AT, Text(_NEW), before=_GONE),
    _t("rename", Text(_OLD), Text(_NEW), before=_MADE),
    _t("rename", Text(_OLD), Text(_NEW), before=_BOTH),
    _t("rename", Text(_OLD), Text(_INSIDE), before=(*_MADE, remove(_INSIDE))),
    _t("renameat", _AT, Text(_OLD), _AT, Text(_NEW), before=_BOTH),
    _t("renameat2", _AT, Text(_OLD), _AT, Text(_NEW), 2, before=_BOTH),
    _t("renameat2", _AT, Text(_OLD), _AT, Text(_NEW), 1, before=_BOTH),
    _t("unlink", Text(_OLD), before=_MADE),
    _t("unlink", Text(_NEW), before=(symlink(_NEW, f"{FIELD}/f1"),)),
    _t("unlinkat", _AT, Text(_OLD), 0, before=_MADE),
    _t("mkdir", Text(_SUB), 0o755, before=(remove(_SUB),)),
    _t("mkdirat", _AT, Text(f"{YARD}/dir/new"), 0o700, before=(remove(f"{YARD}/dir/new"),)),
    _t("rmdir", Text(_SUB), before=(directory(_SUB),)),
    _t("mknod", Text(_NEW), 0o10644, 0, before=_GONE),
    _t("mknodat", _AT, Text(_NEW), 0o20644, 0x103, before=_GONE),
    _t(
        "mount",
        _p("dir/b"),
        _p("inner/bound"),
        0,
        _BIND_MOUNT,
        who=ROOTS,
        before=(unmount(f"{FIELD}/inner/bound"), file(f"{FIELD}/inner/bound")),
        after=(unmount(f"{FIELD}/inner/bound"), remove(f"{FIELD}/inner/bound")),
    ),
)

_SOCKETS = (
    _t("connect", _INTERNET, _internet(9), 16),
    _t("connect", _INTERNET, Data(struct.pack("=H", 10) + bytes(26)), 28),
    _t("connect", _UNIX, _unix(f"{FIELD}/f1"), 20),
    _t("connect", _UNIX, _unix(f"{FIELD}/absent"), 20),
    _t("connect", _UNIX, _unix(f"{FIELD}/dir/a"), 20),
    _t("connect", 999, _internet(9), 16),
    _t("bind", _INTERNET, _internet(9, "192.0.2.1"), 16),
    _t("bind", 999, _internet(9), 16),
    _t("sendto", _INTERNET, Space(16), 4, 1, _internet(9), 16),
    _t("sendto", _UNIX, Space(16), 4, 0, _unix(f"{FIELD}/f2"), 20),
    _t("socket", 2, 2, 0, closes=True),
    _t("socket", 99, 2, 0),
    _t("getsockname", _INTERNET, Space(128), Data(struct.pack("=I", 128))),
    _t("socketcall", 3, ArgumentWords((_INTERNET, _internet(9), 16)), arches=("b32",)),
    _t("socketcall", 3, ArgumentWords((_UNIX, _unix(f"{FIELD}/f1"), 20)), arches=("b32",)),
    _t("socketcall", 2, ArgumentWords((_INTERNET, _internet(9, "192.0.2.1"), 16)), arches=("b32",)),
    _t("socketcall", 1, ArgumentWords((1, 2, 0)), arches=("b32",), closes=True),
)

_PROCESSES = (
    _t("execve", _p("noop"), ArgumentWords((Text("noop"), 0)), ArgumentWords((0,)), child=True),
    _t("execve", _p("suid"), ArgumentWords((Text("noop"), 0)), ArgumentWords((0,)), child=True),
    _t("execve", _p("dir/prog"), ArgumentWords((Text("noop"), 0)), ArgumentWords((0,)), child=True),
    _t(
        "execve",
        _p("unrunnable"),
        ArgumentWords((Text("noop"), 0)),
        ArgumentWords((0,)),
        child=True,
    ),
    _t("execve", _p("nowhere"), ArgumentWords((Text("noop"), 0)), ArgumentWords((0,)), child=True),
    _t(
        "execveat",
        _AT,
        _p("noop"),
        ArgumentWords((Text("noop"), 0)),
        ArgumentWords((0,)),
        0,
        child=True,
    ),
    _t("exit_group", 3, child=True),
    _t("exit", 4, child=True),
    _t("setuid", 1000, child=True),
    _t("setuid", 0, child=True),
    _t("setresuid", 33, 33, 33, child=True),
    _t("setgid", 42, child=True),
    _t("setfsuid", 33, child=True),
    # Refused to who leads a session, as all workers do; a child would get a number of its own.
    _t("setsid"),
    _t("umask", 0o77, child=True),
    _t("personality", 8, child=True),
    _t("kill", 1, 0),
    _t("kill", 999999, 15),
    _t("tgkill", 1, 1, 0),
    _t("ptrace", 16, 1, 0, who=_USERS),
    _t("getppid"),
    _t("getppid", 1, 2),
    _t("getpid"),
    _t("gettid", 5),
    _t("getuid"),
    _t("uname", Space(512)),
    _t("sysinfo", Space(256)),
    _t("sched_yield"),
    _t("getpriority", 0, 0),
    _t("prctl", 9999, 1),
    _t("sethostname", Text("name"), 4, who=_USERS),
    _t("settimeofday", 0, Space(16), who=_USERS),
    _t("adjtimex", Space(256)),
    _t("init_module", Space(16), 16, Text(""), who=_USERS),
    _t("delete_module", Text("none"), 0),
    _t("reboot", 1, 2, 3, who=_USERS),
    _t("iopl", 3, who=_USERS),
    _t("munmap", 1, 4096),
    _t("mprotect", 1, 4096, 0),
    _t("ioctl", 999, 0x5401, 0),
    _t("fcntl", 999, 1, 0),
    _t("lseek", _HELD, 0, 0),
    _t("dup", 999),
    _t("pipe", 0),
    _t("unknown", 1, 2, number=999),
    _t("beyond", 1, 2, number=2040),
    _t("beyond", 1, 2, number=5000),
    _t("x32 write", 999, 0, number=0x40000001, arches=("b64",)),
)

_TEMPLATES = (*_OPENING, *_LOOKING, *_CHANGING, *_MAKING, *_SOCKETS, *_PROCESSES)


def _drawn(templates: Iterable[_Template], tag: int = _TAG) -> Iterator[Call]:
    """Yield each template by two or three of the workers, by both gates in turn."""
    for index, template in enumerate(templates):
        for worker in sorted(template.who):
            for gate, arch in enumerate(template.arches):
                number = template.number or lookup.calls(arch).get(template.name)
                # All of the roots' and a user's own; of the others, and of i386, every third.
                chosen = (worker < 2 and not gate) or (index + worker + gate) % 3 == 0  # noqa: PLR2004
                if number is None or not chosen:
                    continue
                tag += 1
                yield Call(
                    template.name,
                    worker,
                    arch,
                    number,
                    _tagged(template.arguments, tag),
                    template.child,
                    template.closes,
                    template.before,
                    template.after,
                )


def _tagged(arguments: tuple[Argument, ...], tag: int) -> tuple[Argument, ...]:
    """Return the arguments with a number that the call ignores: its record is known by it."""
    if len(arguments) >= _SHOWN:
        return arguments
    return (*arguments, *(0,) * (_SHOWN - 1 - len(arguments)), tag)


CALLS: tuple[Call, ...] = tuple(_drawn(_TEMPLATES))
"""All calls of a battery."""


def calls_about(path: str, number: int) -> tuple[Call, ...]:
    """Return calls on a path that may be a file, a directory that holds `in`, or nothing.

    None of them makes or removes what lies there. `number` distinguishes the calls about one path
    from those about another.
    """
    own, inside, absent = Text(path), Text(f"{path}/in"), Text(f"{path}/absent")
    templates = (
        _t("open", own, _R, closes=True),
        _t("open", own, _RW, closes=True),
        _t("open", inside, _W, closes=True),
        _t("openat", _AT, inside, _R, closes=True),
        _t("openat", _AT, absent, _R),
        _t("chmod", own, 0o777),
        _t("chmod", inside, 0o666),
        _t("fchmodat", _AT, inside, 0o666),
        _t("chown", inside, 0, 0),
        _t("truncate", own, 0),
        _t("truncate", inside, 0),
        _t("mkdir", own, 0o755, who=_USERS),
        _t("mkdir", inside, 0o755, who=_USERS),
        _t("rename", inside, Text(f"{YARD}/f1")),
        _t("link", _p("f1"), inside),
        _t("getxattr", inside, Text("user.none"), Space(16), 16),
        _t("readlink", own, Space(64), 64),
        _t("stat", inside, Space(256)),
        _t("utimensat", _AT, inside, 0, 0),
    )
    return tuple(_drawn(templates, _TAG + 0x1000 * number))
