"""QEMU's rights on the host, which are restricted since it runs kernels and programs of others.

It has no privileges and can gain none, its system calls are filtered if its build can do that, and
its environment is minimal. If hardcost is root, QEMU runs as the user `nobody`, without access to
the files of others: its working folder is the trial's own, and hardcost opens any other file that
it needs and passes the descriptor.
"""

from __future__ import annotations

import functools
import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 65534
"""A user and group without rights of their own, on Debian and elsewhere."""

KVM = Path("/dev/kvm")

_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_NEEDED = (0, 6, 7, 8)  # CAP_CHOWN, CAP_SETGID, CAP_SETUID, CAP_SETPCAP
_CAPABILITIES = re.compile(r"^CapEff:\s*([0-9a-f]+)$", re.MULTILINE)
_GAINS_NOTHING = ("--no-new-privs", "--inh-caps=-all")
_HAS_NOTHING = ("--bounding-set=-all",)


@functools.cache
def sandbox_words(program: str) -> tuple[str, ...]:
    """Return QEMU's words that filter its system calls; none if its build can't do that."""
    try:
        run([program, "-sandbox", _SANDBOX, "-machine", "help"])
    except MachineError:
        return ()
    return ("-sandbox", _SANDBOX)


def guard(*, uses_kvm: bool) -> tuple[str, ...]:
    """Return setpriv's options for our QEMU."""
    if not _can_drop():
        return _GAINS_NOTHING
    words = (*_GAINS_NOTHING, *_HAS_NOTHING)
    if not is_other_user(uses_kvm=uses_kvm):
        return words
    groups = f"--groups={KVM.stat().st_gid}" if uses_kvm else "--clear-groups"
    return (*words, f"--reuid={NOBODY}", f"--regid={NOBODY}", groups)


def is_other_user(*, uses_kvm: bool) -> bool:
    """Say whether QEMU runs as `nobody`: hardcost is root, and KVM, if used, is open to a group."""
    if not _can_drop():
        return False
    if not uses_kvm:
        return True
    try:
        status = KVM.stat()
    except OSError:
        return False
    both = stat.S_IRGRP | stat.S_IWGRP
    return bool(status.st_gid) and status.st_mode & both == both


@functools.cache
def _can_drop() -> bool:
    """Say whether this root can become another user, which some containers forbid."""
    if os.geteuid():
        return False
    try:
        mapped = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
        found = _CAPABILITIES.search(Path("/proc/self/status").read_text())
    except OSError:
        return False
    is_mapped = any(int(first) <= NOBODY < int(first) + int(count) for first, _, count in mapped)
    has = int(found[1], 16) if found else 0
    return is_mapped and all(has >> number & 1 for number in _NEEDED)


@dataclass
class Files:
    """Files passed to a QEMU by descriptor; `close` them when it has them."""

    other_user: bool
    descriptors: list[int] = field(default_factory=list)

    def read(self, path: Path) -> Path:
        """Return the path under which QEMU can read a file.

        Raises:
            MachineError: It can't be opened, or can't be given to QEMU's user.
        """
        return self._handed(path, os.O_RDONLY, 0o040)

    def write(self, path: Path) -> Path:
        """Return the path under which QEMU can read and write a file, created if necessary.

        Raises:
            MachineError: It can't be opened, or can't be given to QEMU's user.
        """
        return self._handed(path, os.O_RDWR | os.O_CREAT, 0o060)

    def own(self, path: Path, permissions: int) -> None:
        """Give QEMU the `permissions` (of a group) on a file or folder.

        Raises:
            MachineError: It can't be given to QEMU's user.
        """
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                self._grant(descriptor, permissions)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise _not_handed(path, error) from error

    def close(self) -> None:
        """Close the files opened here."""
        while self.descriptors:
            os.close(self.descriptors.pop())

    def _handed(self, path: Path, flags: int, permissions: int) -> Path:
        try:
            descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
            self.descriptors.append(descriptor)
            self._grant(descriptor, permissions)
        except OSError as error:
            raise _not_handed(path, error) from error
        return Path(f"/proc/self/fd/{descriptor}")

    def _grant(self, descriptor: int, permissions: int) -> None:
        """Give a file to QEMU's group; its folder, which only its owner can enter, protects it."""
        if not self.other_user or not permissions:
            return
        status = os.fstat(descriptor)
        if status.st_gid != NOBODY:
            os.fchown(descriptor, -1, NOBODY)
        if status.st_mode & permissions != permissions:
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode) | permissions)

    def __iter__(self) -> Iterator[int]:
        """Yield the descriptors."""
        return iter(self.descriptors)


def _not_handed(path: Path, error: OSError) -> MachineError:
    return MachineError(
        f"{path} can't be given to QEMU: {error.strerror}",
        hint="set HARDCOST_CACHE to a folder on a local disk with free space",
    )
