"""QEMU's rights on the host, which are restricted since it runs kernels and programs of others.

It has no privileges and can gain none, its system calls are filtered if its build can do that, and
its environment is minimal. It runs as a user of its own where this host allows it (`guest_user`),
without access to the files of others: hardcost opens what it needs, and passes the descriptor.
"""

from __future__ import annotations

import functools
import os
import shlex
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import Guard
from hardcost.machines.vm.guest_user import SAME, User, take_user, ways
from hardcost.supply.emulators.emulator import Emulator, answer

KVM = Path("/dev/kvm")

_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"
_GAINS_NOTHING = ("--no-new-privs", "--inh-caps=-all")
_HAS_NOTHING = ("--bounding-set=-all",)
_READS, _WRITES = 0o4, 0o6


@functools.cache
def sandbox_words(emulator: Emulator) -> tuple[str, ...]:
    """Return QEMU's words that filter its system calls; none if its build can't do that."""
    try:
        answer(emulator, "-sandbox", _SANDBOX, "-machine", "help")
    except MachineError:
        return ()
    return ("-sandbox", _SANDBOX)


def guard(user: User, *, uses_kvm: bool) -> Guard:
    """Return the guard that makes QEMU run as `user`, without privileges."""
    if user.way == "same":
        return Guard((*_GAINS_NOTHING, *(_HAS_NOTHING if _is_root() else ())))
    options = (*_GAINS_NOTHING, *_HAS_NOTHING)
    if user.way == "subordinate":
        return Guard((*options, "--clear-groups"), (user.uid, user.gid))
    groups = [user.shared, *([KVM.stat().st_gid] if uses_kvm else [])]
    named = ",".join(map(str, groups))
    ids = (f"--reuid={user.uid}", f"--regid={user.gid}", f"--groups={named}")
    return Guard((*options, *ids))


def user_of(*, uses_kvm: bool) -> AbstractContextManager[User]:
    """Give the user that a QEMU runs as: who runs hardcost, where no other may open KVM."""
    return nullcontext(SAME) if uses_kvm and not _is_kvm_of_a_group() else take_user()


def _is_root() -> bool:
    """Say whether this is root with the rights to drop privileges and to become another user."""
    return ways().way in {"own", "nobody"}


def _is_kvm_of_a_group() -> bool:
    """Say whether root can let another user open KVM, as a member of its group."""
    try:
        status = KVM.stat()
    except OSError:
        return False
    both = stat.S_IRGRP | stat.S_IWGRP
    return _is_root() and bool(status.st_gid) and status.st_mode & both == both


@dataclass(frozen=True)
class GuestOutput:
    """A file that QEMU writes by a descriptor that it inherits, and hardcost reads."""

    path: Path
    descriptor: int = -1


@dataclass
class QemuFiles:
    """Files passed to the QEMU of a `user` by descriptor; `close` them when it has them.

    QEMU opens some of them again, under /proc/self/fd. For that its user needs permission. No other
    user gains by that, since they are in folders that only their owner can enter.
    """

    user: User = SAME
    descriptors: list[int] = field(default_factory=list)

    def make_output(self, path: Path) -> GuestOutput:
        """Make a file that QEMU writes, and that no other user can open.

        Raises:
            MachineError: It can't be made.
        """
        return GuestOutput(path, self._open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))

    def readable_path(self, path: Path) -> Path:
        """Return the path under which QEMU can read a file that other guests may be given too.

        Raises:
            MachineError: It can't be opened, or can't be given to QEMU's user.
        """
        return self._hand_over(path, os.O_RDONLY, _READS, self.user.shared)

    def writable_path(self, path: Path) -> Path:
        """Return the path under which QEMU can read and write such a file, made if necessary.

        Raises:
            MachineError: It can't be opened, or can't be given to QEMU's user.
        """
        return self._hand_over(path, os.O_RDWR | os.O_CREAT, _WRITES, self.user.shared)

    def own_path(self, path: Path, *, written: bool = False) -> Path:
        """Return the path under which QEMU can read, or write, a file of this guest alone.

        Raises:
            MachineError: It can't be opened, or can't be given to QEMU's user.
        """
        if written:
            return self._hand_over(path, os.O_RDWR | os.O_CREAT, _WRITES, self.user.gid)
        return self._hand_over(path, os.O_RDONLY, _READS, self.user.gid)

    def runnable(self, emulator: Emulator) -> Emulator:
        """Return an emulator as its user can start it, below a folder that is handed over.

        The folders above may be closed to that user: the descriptor leads past them.

        Raises:
            MachineError: It can't be opened, or its files are closed to other users.
        """
        if emulator.root is None:
            return emulator
        try:
            closed = "" if self.user.way == "same" else emulator.closed_to_others()
        except OSError as error:
            raise _handing_error(emulator.root, error) from error
        if closed:
            raise MachineError(
                f"QEMU runs as a user of its own, who can't get at {closed}",
                hint=f"let every user read it: chmod -R a+rX {shlex.quote(str(emulator.root))}",
            )
        descriptor = self._open_file(emulator.root, os.O_PATH | os.O_DIRECTORY)
        return replace(emulator, root=Path(f"/proc/self/fd/{descriptor}"))

    def close(self) -> None:
        """Close the files opened here."""
        while self.descriptors:
            os.close(self.descriptors.pop())

    def _hand_over(self, path: Path, flags: int, permissions: int, group: int) -> Path:
        descriptor = self._open_file(path, flags)
        try:
            self._grant(descriptor, permissions, group)
        except OSError as error:
            raise _handing_error(path, error) from error
        return Path(f"/proc/self/fd/{descriptor}")

    def _open_file(self, path: Path, flags: int) -> int:
        try:
            descriptor = os.open(path, flags | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _handing_error(path, error) from error
        self.descriptors.append(descriptor)
        return descriptor

    def _grant(self, descriptor: int, permissions: int, group: int) -> None:
        """Let QEMU's user open a file: by its group, which only root can set, else as anybody."""
        if self.user.way == "same":
            return
        status = os.fstat(descriptor)
        if self.user.way != "subordinate":
            permissions <<= 3
            if status.st_gid != group:
                os.fchown(descriptor, -1, group)
        if status.st_mode & permissions != permissions:
            os.fchmod(descriptor, stat.S_IMODE(status.st_mode) | permissions)

    def __iter__(self) -> Iterator[int]:
        return iter(self.descriptors)


def _handing_error(path: Path, error: OSError) -> MachineError:
    return MachineError(
        f"{path} can't be given to QEMU: {error.strerror}",
        hint="set HARDCOST_CACHE to a folder on a local disk with free space",
    )
