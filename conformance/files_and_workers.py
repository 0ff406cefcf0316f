"""The files and processes of a battery: file systems of its own, and workers.

What rules name is never replaced while calls run: a watched file that is replaced moves its rule,
and then no two runs of a call are alike. What calls make and remove has names of its own,
which no rule names.
"""

from __future__ import annotations

from conformance.calls import (
    Step,
    Worker,
    device,
    directory,
    fifo,
    file,
    link,
    mount,
    program,
    remove,
    symlink,
)

FIELD = "/field"
"""Where nearly everything lies."""

YARD = "/yard"
"""Another file system, with the same inode numbers."""

INNER = f"{FIELD}/inner/mounted"
"""A third one, within the first."""

OPEN = f"{FIELD}/open"
"""A directory where all may write."""

_FILLERS = 36
"""So many files that inode numbers share buckets."""

_USED_UP = 100


def _used_up(path: str) -> list[Step]:
    """Return steps that use up inode numbers.

    What calls make has a number that no rule names: not even as one of the other file system.
    """
    return [*(file(path) for _ in range(_USED_UP)), remove(path)]


DIRECTORIES = (
    FIELD, YARD, INNER, OPEN, f"{FIELD}/inner", f"{FIELD}/dir", f"{FIELD}/dir/sub",
    f"{FIELD}/secret", f"{FIELD}/theirs", f"{FIELD}/sticky", f"{YARD}/dir",
)  # fmt: skip

FIXTURE: tuple[Step, ...] = (
    mount(FIELD),
    mount(YARD),
    directory(OPEN, 0o777),
    directory(f"{FIELD}/dir"),
    directory(f"{FIELD}/dir/sub"),
    directory(f"{FIELD}/secret", 0o700),
    directory(f"{FIELD}/theirs", 0o750, (1000, 1000)),
    directory(f"{FIELD}/sticky", 0o1777, (33, 33)),
    directory(f"{FIELD}/inner"),
    mount(INNER),
    file(f"{FIELD}/f1"),
    file(f"{FIELD}/f2", 0o600, (1000, 1000)),
    file(f"{FIELD}/f3", 0o664, (1000, 42)),
    file(f"{FIELD}/f4", 0o600),
    file(f"{FIELD}/f5", 0o644, (33, 33)),
    file(f"{FIELD}/f6", 0o666, (1000, 33)),
    file(f"{FIELD}/f7", 0o666),
    file(f"{FIELD}/f8", 0o666, (33, 0)),
    file(f"{FIELD}/held", 0o644, (1000, 0)),
    file(f"{FIELD}/dir/a"),
    file(f"{FIELD}/dir/b", 0o660, (1000, 1000)),
    file(f"{FIELD}/dir/sub/c", 0o666, (33, 8)),
    file(f"{FIELD}/secret/s", 0o666),
    file(f"{FIELD}/theirs/t", 0o600, (1000, 1000)),
    file(f"{OPEN}/o", 0o666, (1000, 1000)),
    file(f"{INNER}/m", 0o666, (1000, 8)),
    link(f"{FIELD}/dir/hard", f"{FIELD}/f5"),
    symlink(f"{FIELD}/link", f"{FIELD}/f1"),
    symlink(f"{FIELD}/dangling", f"{FIELD}/nowhere"),
    symlink(f"{FIELD}/dirlink", f"{FIELD}/dir"),
    symlink(f"{FIELD}/sticky/link", f"{FIELD}/f1"),
    file(f"{FIELD}/sticky/file", 0o666),
    fifo(f"{FIELD}/sticky/fifo"),
    device(f"{FIELD}/null", (1, 3)),
    device(f"{FIELD}/zero", (1, 5)),
    fifo(f"{FIELD}/fifo"),
    program(f"{FIELD}/noop"),
    program(f"{FIELD}/suid", 0o4755),
    program(f"{FIELD}/unrunnable", 0o644),
    program(f"{FIELD}/prog"),
    program(f"{FIELD}/dir/prog"),
    program(f"{YARD}/prog"),
    *(file(f"{FIELD}/fill{number}") for number in range(_FILLERS)),
    directory(f"{YARD}/dir", 0o777),
    file(f"{YARD}/y1", 0o666),
    file(f"{YARD}/y2", 0o600, (1000, 1000)),
    file(f"{YARD}/dir/y3", 0o644, (33, 42)),
    *(file(f"{YARD}/fill{number}") for number in range(_FILLERS)),
    *_used_up(f"{FIELD}/passing"),
    *_used_up(f"{YARD}/passing"),
)

_SYMLINKS = frozenset(step.path for step in FIXTURE if step.kind == "symlink")

_GONE = frozenset(step.path for step in FIXTURE if step.kind == "remove")

FILES = tuple(
    step.path
    for step in FIXTURE
    if step.kind not in {"mount", "directory"} and step.path not in _SYMLINKS | _GONE
)
"""What is there and no directory or symbolic link."""

SYMLINKS = tuple(sorted(_SYMLINKS))

LINKED = (f"{FIELD}/dirlink",)
"""The symbolic links that lead to directories: a rule on one watches the link alone."""

THROUGH_LINKS = (f"{FIELD}/dirlink/", f"{FIELD}/dirlink/sub", f"{FIELD}/dirlink/a")
"""Paths with a link on the way, which is followed; so is one that a slash ends."""

ABSENT = (f"{FIELD}/nowhere", f"{FIELD}/dir/absent", f"{YARD}/absent", f"{OPEN}/absent")
"""What is never there."""

PATHS = (
    "/",
    *DIRECTORIES,
    *FILES,
    *SYMLINKS,
    *THROUGH_LINKS,
    "/dev",
    "/dev/null",
    "/bin",
    "/bin/noop",
)
"""Whose identity is asked for."""

SETTINGS = tuple(
    f"/proc/sys/fs/protected_{what}" for what in ("symlinks", "hardlinks", "fifos", "regular")
)
"""Turned on, so that some calls are refused for a reason that the kernel records by itself."""

PROGRAMS = (f"{FIELD}/prog", f"{FIELD}/dir/prog", f"{YARD}/prog", f"{FIELD}/noop", f"{FIELD}/suid")

_HELD = (f"{FIELD}/held", f"{FIELD}/dir")

WORKERS: tuple[Worker, ...] = (
    Worker(501, f"{FIELD}/prog", held=_HELD),
    Worker(
        502,
        f"{FIELD}/dir/prog",
        uid=(1000, 1000, 1000),
        gid=(1000, 1000, 1000),
        auid=1000,
        groups=(4, 42),
        held=_HELD,
    ),
    Worker(
        503,
        f"{YARD}/prog",
        uid=(1000, 33, 0),
        gid=(1000, 33, 8),
        auid=1000,
        fsuid=1000,
        fsgid=8,
        groups=(42, 1000),
        personality=0x8,
        held=_HELD,
    ),
    Worker(504, f"{FIELD}/prog", gid=(0, 42, 0), auid=0, groups=(1000,), held=_HELD),
    Worker(
        505,
        f"{FIELD}/dir/prog",
        uid=(33, 33, 33),
        gid=(33, 33, 33),
        auid=33,
        personality=0x40000,
        held=_HELD,
    ),
)
"""Root without a login, a user, a mixture, root that has logged in, a service."""

ROOTS = frozenset({0, 3})
"""The workers with all rights."""
