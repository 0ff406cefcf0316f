"""A system call as the audit filter sees it when the call returns, and the files it visited."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from auditrules.model.kernel_rule import UNSET
from auditrules.model.rule import plain_path
from auditrules.tables.lookup import OLDEST, Arch, Release

NO_INODE = (1 << 64) - 1
"""The inode number of a name that led to no file (AUDIT_INO_UNSET)."""

FORMAT = 0o170000
"""The bits of a mode that say of which type a file is (S_IFMT, linux/stat.h)."""

EXT4 = 0xEF53
"""The default file system of a file (linux/magic.h)."""


class FileId(NamedTuple):
    """Which file: the numbers of its device and its inode."""

    major: int
    minor: int
    inode: int


AVC = 1400
"""The type of the record of an LSM denial (AUDIT_AVC)."""

NO_FILE = FileId(0, 0, NO_INODE)

_BY_DESCRIPTOR = frozenset({
    "fchmod", "fchown", "fchown32", "fsetxattr", "fgetxattr", "flistxattr", "fremovexattr",
    "mq_timedsend", "mq_timedreceive", "mq_timedsend_time64", "mq_timedreceive_time64",
})  # fmt: skip
_BY_TWO_NAMES = frozenset({
    "link", "linkat", "rename", "renameat", "renameat2", "symlink", "symlinkat", "mount",
    "move_mount", "pivot_root", "quotactl",
})  # fmt: skip

_LARGEST_ERROR = 4095
"""A return value from minus this to -1 is an error number (MAX_ERRNO)."""


@dataclass(frozen=True)
class VisitedName:
    """A file that the call visited, or a name that led to none (`NO_INODE`, else 0).

    `path` is the file's path with all links resolved, which determines the trees that contain it.
    `label` has the fields obj_user, obj_role, obj_type, obj_lev_low, obj_lev_high where an LSM
    gives them; `filesystem` is the magic number of its file system, also of what was not created
    there. `given`: the file was looked up by this name (`given_names`), which stays, without the
    file, if a rule hides the file system.
    """

    path: str | None = None
    file: FileId = NO_FILE
    special_device: tuple[int, int] = (0, 0)
    mode: int = 0
    uid: int = 0
    gid: int = 0
    label: Mapping[str, str] = field(default_factory=dict)
    filesystem: int = 0
    given: bool = False

    def lies_in(self, directory: str) -> bool:
        """Say whether the file is a directory or lies in its tree."""
        if self.path is None:
            return False
        directory = plain_path(directory).rstrip("/")
        return directory in {"", self.path} or self.path.startswith(f"{directory}/")

    def directories(self) -> Iterator[str]:
        """Yield the paths of the directories in which the file lies, but for the root."""
        above = (self.path or "").rpartition("/")[0]
        while above:
            yield above
            above = above.rpartition("/")[0]


@dataclass(frozen=True)
class Event:
    """A system call at its return.

    `arguments` are the first four, as registers hold them; `exit` is what it returned, None where
    that is not valid. Ids are numbers, `UNSET` where there is none. `names` are the files in the
    order in which the call visited them. `open_flags` are those of openat2, which come in memory.
    `raised`: a part of the kernel, such as an LSM denial, has written a record of its own, of the
    type `raised_by`, and so requested this call's.
    `release` is the kernel's, which determines the call's permissions.
    """

    arch: Arch
    call: int
    arguments: tuple[int, int, int, int] = (0, 0, 0, 0)
    exit: int | None = 0
    pid: int = 1
    ppid: int = 1
    uid: int = 0
    euid: int = 0
    suid: int = 0
    fsuid: int = 0
    gid: int = 0
    egid: int = 0
    sgid: int = 0
    fsgid: int = 0
    groups: frozenset[int] = frozenset()
    auid: int = UNSET
    sessionid: int = UNSET
    personality: int = 0
    exe: FileId | None = None
    names: tuple[VisitedName, ...] = ()
    open_flags: int | None = None
    socket_family: int | None = None
    subject: Mapping[str, str] = field(default_factory=dict)
    raised: bool = False
    raised_by: int = AVC
    release: Release = OLDEST

    @property
    def success(self) -> bool:
        """Whether the call succeeded: it returned no error number."""
        return self.exit is not None and not -_LARGEST_ERROR <= self.exit < 0


def given_names(call: str) -> int:
    """Return how many names a call of that name gives at most (`getname`); they come first.

    What executes programs looks up each by a name. The other files the kernel adds as it finds
    them: what is created or removed, or was there where it was to be created (`__audit_inode`).
    """
    if call in {"execve", "execveat"}:
        return sys.maxsize
    if call in _BY_DESCRIPTOR:
        return 0
    return 2 if call in _BY_TWO_NAMES else 1
