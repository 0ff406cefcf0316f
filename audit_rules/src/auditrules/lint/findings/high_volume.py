"""A rule records calls that programs make all the time.

What: The rule names calls such as read, futex or mmap, or successful opening of files, and nothing
narrows it: no path, program, argument, error or particular user.

Why: General-purpose systems make thousands of such calls a second. Recording one takes many times
as long as the call itself, fills the log, and in the end makes programs wait or loses records.

Example:
    -a always,exit -F arch=b64 -S read,write -F auid>=1000 -k io

Remedy: Remove these calls, or narrow the rule by path (-F dir=), program, or failure (-F
exit=-EACCES).
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint import prices, wording
from auditrules.lint.context import Context, arch_of, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import Condition, FieldTest, Operator, bits
from auditrules.tables import lookup

CODE = "high-volume"
LEVEL = Level.WARNING

_CONSTANT = frozenset({
    "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "lseek",
    "_llseek", "close", "poll", "ppoll", "select", "_newselect", "pselect6", "epoll_wait",
    "epoll_pwait", "epoll_ctl", "futex", "futex_time64", "mmap", "mmap2", "munmap", "mprotect",
    "brk", "madvise", "stat", "fstat", "lstat", "stat64", "fstat64", "lstat64", "newfstatat",
    "fstatat64", "statx", "access", "faccessat", "faccessat2", "ioctl", "fcntl", "fcntl64",
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "recvfrom", "recvmsg", "recvmmsg", "sendto",
    "sendmsg", "sendmmsg", "getdents", "getdents64", "nanosleep", "clock_nanosleep",
    "clock_gettime", "gettimeofday", "time", "sched_yield", "getpid", "gettid", "getuid", "geteuid",
    "getrandom", "timerfd_settime", "readlink", "readlinkat", "dup", "dup2", "pipe", "pipe2",
})  # fmt: skip
"""Calls of which any busy program makes hundreds a second."""

_OPENING = frozenset({"open", "openat", "openat2"})
"""Calls as frequent."""

_NUMBERS = frozenset({"auid", "uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid"})
_FIRST_ERROR = (1 << 32) - 4095  # -MAX_ERRNO, as the filter sees it: 32 bits without a sign


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that records very frequent calls."""
    for rule in context.recording:
        if wording.is_all(rule.mask) or not all(map(_leaves_much, rule.conditions)):
            continue
        arch = arch_of(rule) or "b64"
        often = _CONSTANT | _OPENING
        calls = [n for n in bits(rule.mask) if lookup.call_name(arch, n) in often]
        if calls:
            names = wording.list_names([lookup.call_name(arch, call) for call in calls])
            yield Diagnostic(
                CODE,
                LEVEL,
                f"programs call {names} all the time, and nothing much narrows the rule",
                location_of(rule.source, column_of(rule.source, "-S")),
                rule.source.text if rule.source else "",
                "remove these calls, or narrow the rule by path, program or failure",
                prices.cost_of_recording(context, rule, calls[0], arch),
            )


def _leaves_much(condition: Condition) -> bool:
    """Say whether most calls of a busy system meet a condition."""
    if not isinstance(condition, FieldTest):
        return False
    name, operator, value = condition.field, condition.operator, condition.value
    if name in {"arch", "loginuid_set", "pers"}:
        return True
    if name == "success":
        return bool(value) is (operator is Operator.EQUAL)
    if name == "exit":
        is_error = isinstance(value, int) and value >= _FIRST_ERROR
        return operator is Operator.NOT_EQUAL or not is_error
    # A range of users, or root, whose daemons do most; a certain user is narrow.
    return name in _NUMBERS and (operator is not Operator.EQUAL or value == 0)
