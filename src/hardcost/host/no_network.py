"""Starts a program that has no sockets but those of AF_UNIX, nor has anything that it starts.

    python -I -S no_network.py [--root UID GID] PROGRAM [ARGUMENT]...

A network namespace is no bound for every address family: AF_VSOCK reaches the hypervisor from any.
A filter of system calls (seccomp) is. `socket` and `socketpair` fail with EAFNOSUPPORT for other
families. io_uring, which can make sockets past the filter, does not exist (ENOSYS). A program that
makes system calls as i386 or x32 does, which have other numbers, is killed.

With `--root`, the program runs as root of a user namespace that has no other user, and that is the
subordinate user UID and group GID outside. That is done here, and not by `unshare`, since after the
filter no program gains privileges, which newuidmap needs, and that user may not get at our Python.

This is a script of the standard library alone, so that it starts in 20 ms.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
import sys

_ROOT = "--root"
_CLONE_NEWUSER = 0x10000000  # linux/sched.h: Python has os.unshare only since 3.12
# linux/prctl.h, linux/seccomp.h
_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, _PR_SET_NO_NEW_PRIVS = 22, 2, 38
_LOAD, _IS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF: LD|W|ABS, JEQ|K, JGE|K, RET|K
_NUMBER, _ARCH, _FIRST = 0, 4, 16  # offsets in struct seccomp_data; of 8 bytes, the lower 4
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000  # SECCOMP_RET_*
_X86_64, _X32 = 0xC000003E, 0x40000000  # AUDIT_ARCH_X86_64, __X32_SYSCALL_BIT
_SOCKET, _SOCKETPAIR = 41, 53  # numbers of x86-64, which the filter has checked before
# io_uring makes sockets without the call that the filter sees.
_IO_URING_SETUP, _IO_URING_ENTER, _IO_URING_REGISTER = 425, 426, 427

# Code, how many steps to leave out if it is so and if not, and the value.
_FILTER = (
    (_LOAD, 0, 0, _ARCH),
    (_IS, 0, 11, _X86_64),  # else kill
    (_LOAD, 0, 0, _NUMBER),
    (_AT_LEAST, 9, 0, _X32),  # kill
    (_IS, 5, 0, _SOCKET),
    (_IS, 4, 0, _SOCKETPAIR),
    (_IS, 7, 0, _IO_URING_SETUP),
    (_IS, 6, 0, _IO_URING_ENTER),
    (_IS, 5, 0, _IO_URING_REGISTER),
    (_RETURN, 0, 0, _ALLOW),
    (_LOAD, 0, 0, _FIRST),
    (_IS, 3, 0, socket.AF_UNIX),  # allow
    (_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT),
    (_RETURN, 0, 0, _KILL),
    (_RETURN, 0, 0, _FAIL | errno.ENOSYS),
    (_RETURN, 0, 0, _ALLOW),
)


def words(root: tuple[int, int] | None = None) -> list[str]:
    """Return the words that come before a program's own; `root` is a subordinate user and group."""
    given = [] if root is None else [_ROOT, *map(str, root)]
    return [sys.executable, "-I", "-S", __file__, *given]


def _become_root(user: str, group: str) -> None:
    """Become root of a user namespace, which is this subordinate user and group outside.

    What is left of root's privileges there is for the program's guard to take away.
    """
    is_in, say = os.pipe()
    outside = os.fork()
    if not outside:
        os.close(say)
        os._exit(0 if os.read(is_in, 1) and _are_mapped(os.getppid(), user, group) else 1)
    os.close(is_in)
    try:
        if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWUSER):
            raise OSError(ctypes.get_errno(), "the kernel makes no user namespace")
        os.write(say, b".")
    finally:
        os.close(say)
        _, status = os.waitpid(outside, 0)
    if status:
        raise OSError(errno.EPERM, "newuidmap and newgidmap map no subordinate ids")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)


def _are_mapped(process: int, user: str, group: str) -> bool:
    """Make the ids root's in the user namespace of a process; say whether that was allowed."""
    return not any(
        os.spawnlp(os.P_WAIT, program, program, str(process), "0", one, "1")  # noqa: S606  (no shell)
        for program, one in (("newuidmap", user), ("newgidmap", group))
    )


def _close() -> None:
    """Leave this process no sockets but those of AF_UNIX."""
    steps = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in _FILTER))
    program = struct.pack("@HP", len(_FILTER), ctypes.addressof(steps))  # struct sock_fprog
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = (ctypes.c_int, *(ctypes.c_void_p,) * 4)
    for words in ((_PR_SET_NO_NEW_PRIVS, 1), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program)):
        if prctl(*words, *(None,) * (5 - len(words))):
            raise OSError(ctypes.get_errno(), "seccomp: the kernel takes no filter")


if __name__ == "__main__":
    program = sys.argv[1:]
    os.get_exec_path()  # has Python import what execvp needs, which that user may not get at either
    try:
        if program[0] == _ROOT:
            _, of_user, of_group, *program = program
            _become_root(of_user, of_group)
        _close()
        os.execvp(program[0], program)  # noqa: S606  (a shell would be one more)
    except OSError as error:
        sys.exit(f"{error.filename or program[0]}: {error.strerror}")
