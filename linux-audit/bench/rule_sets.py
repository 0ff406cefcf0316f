"""The audit rule sets under which `costs.py` measures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auditrules.model.location import Location
from auditrules.read.parse import read_line
from hardcost.controls.control import Control
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.profiles import catalogue
from hardcost.supply.packages.debian import package_root

NOBODY = 70000
"""A user id without a user, and the ids after it."""

CATCH_ALL = f"-a always,exit -S all -F uid={NOBODY}"
MANY_CALLS = (
    "creat,open,openat,openat2,truncate,ftruncate,rename,renameat,renameat2,unlink,unlinkat,rmdir,"
    "mkdir,mkdirat,chmod,fchmod,fchmodat,chown,fchown,lchown,fchownat,setxattr,lsetxattr,fsetxattr,"
    "removexattr,lremovexattr,fremovexattr,mount,init_module,delete_module"
)


@dataclass(frozen=True)
class RuleSet:
    """A rule set: its name in tables, and the controls that load it."""

    name: str
    controls: tuple[Control, ...]

    @property
    def size(self) -> int:
        """The number of rules."""
        return sum(isinstance(control, AuditRule) for control in self.controls)

    @property
    def lines(self) -> tuple[str, ...]:
        """The rules as written."""
        return tuple(one.rule.text for one in self.controls if isinstance(one, AuditRule))


def of_lines(name: str, lines: Iterable[str]) -> RuleSet:
    """Return the set of these lines."""
    read = [read_line(line, Location(name, at)) for at, line in enumerate(lines, 1)]
    rules = [AuditRule(one.rule) for one in read if one.rule is not None]
    if len(rules) < len(read):
        raise SystemExit(f"{name}: a line is not a rule")
    return RuleSet(name, (AuditDaemon(), *rules))


def single(count: int) -> tuple[str, ...]:
    """Return rules for one call that is never made, as in the study audit-rules."""
    users = range(NOBODY + 1, NOBODY + 1 + count)
    return tuple(f"-a always,exit -F arch=b64 -S swapon -F uid={user}" for user in users)


def every_call(count: int, arch: str = "b64") -> tuple[str, ...]:
    """Return rules for every call, by users that do not exist."""
    users = range(NOBODY + 1, NOBODY + 1 + count)
    return tuple(f"-a always,exit -F arch={arch} -S all -F uid={user}" for user in users)


def many_calls(count: int) -> tuple[str, ...]:
    """Return rules for thirty calls each."""
    users = range(NOBODY + 1, NOBODY + 1 + count)
    return tuple(f"-a always,exit -F arch=b64 -S {MANY_CALLS} -F uid={user}" for user in users)


def directories(kind: str, count: int = 50) -> tuple[str, ...]:
    """Return rules on `count` directories that no measured call touches.

    `watch` are those of `-w`, `plain` have no permission, `arch` also have one architecture.
    """
    form = {
        "watch": "-w /dir{0}/ -p wa -k x",
        "plain": "-a always,exit -F dir=/dir{0} -k x",
        "arch": "-a always,exit -F arch=b64 -F dir=/dir{0} -F perm=wa -k x",
    }[kind]
    return tuple(form.format(number) for number in range(count))


ONE_RULE: dict[str, str] = {
    "one call, not made": single(1)[0],
    "one call, no arch": f"-a always,exit -S swapon -F uid={NOBODY}",
    "null named": f"-a always,exit -F arch=b64 -S getppid -F uid={NOBODY}",
    "measured calls named": (
        "-a always,exit -F arch=b64 -S getppid,read,write,newfstatat,fstat,open,openat,close,"
        f"lseek,access,mmap,munmap,kill,fork,clone,execve,exit_group,rename,link,unlink,mkdir"
        f",rmdir,chmod,chown,utimensat,setxattr,connect,accept -F uid={NOBODY}"
    ),
    "catch-all": CATCH_ALL,
    "catch-all b64": every_call(1)[0],
    "catch-all b32": every_call(1, "b32")[0],
    "catch-all never": f"-a never,exit -S all -F uid={NOBODY}",
    "32-bit call": f"-a always,exit -F arch=b32 -S swapon -F uid={NOBODY}",
    "32-bit number of null": f"-a always,exit -F arch=b32 -S iopl -F uid={NOBODY}",
    "dir": directories("plain")[0],
    "dir, perm": directories("watch")[0],
    "dir, perm, arch": directories("arch")[0],
    "path": "-w /srv/file -p wa -k x",
    "inode": "-a always,exit -F inode=4242 -S all -k x",
    "inode!=": f"-a always,exit -F inode!=4242 -F uid={NOBODY} -S all",
    "exe": "-a always,exit -F exe=/srv/program -S all",
    "perm=x": f"-a always,exit -F perm=x -F uid={NOBODY}",
    "class bit": f"-a always,exit -F arch=b64 -S 2040 -F uid={NOBODY}",
    "task": f"-a always,task -F uid={NOBODY}",
    "never,task": "-a never,task",
    "user": f"-a always,user -F uid={NOBODY}",
    "exclude": "-a always,exclude -F msgtype=CWD",
    "filesystem": "-a never,filesystem -F fstype=tracefs",
}
"""Single rules of every kind: under none may a call cost more than on stock."""


def of_calls() -> tuple[RuleSet, ...]:
    """Return the sets for measuring calls; the first ones have no rules."""
    off = RuleSet("audit off", (BootParameter("audit=0"),))
    mixed = (*every_call(10), *every_call(10, "b32"))
    sets = {
        "no rules": (),
        "1 rule": single(1),
        "160 rules": single(160),
        "160 rules + catch-all": (*single(160), CATCH_ALL),
        "catch-all": (CATCH_ALL,),
        "10 b64 + 10 b32 -S all": mixed,
        "50 dir, watch": directories("watch"),
        "50 dir, no perm": directories("plain"),
        "50 dir, arch, perm": directories("arch"),
        "50 dir, file in one": (*directories("watch", 49), "-w /tmp/ -p wa -k x"),
        "50 dir, file in one, no perm": (
            *directories("plain", 49),
            "-a always,exit -F dir=/tmp -F success=0 -k x",
        ),
    }
    ones = {f"1: {kind}": (line,) for kind, line in ONE_RULE.items() if line != CATCH_ALL}
    return (off, *(of_lines(name, lines) for name, lines in {**sets, **ones}.items()))


def of_seeds() -> tuple[RuleSet, ...]:
    """Return the sets for measuring operations that vary with the memory layout."""
    names = {"no rules", "1 rule", "catch-all", "1: exe"}
    return tuple(one for one in of_calls() if one.name in names)


def of_loading() -> dict[str, tuple[str, ...]]:
    """Return the kinds of rules of which 480 are loaded and deleted."""
    return {
        "one call": single(480),
        "30 calls": many_calls(480),
        "every call": every_call(480),
        "dir": directories("plain", 480),
        "dir, perm": directories("watch", 480),
    }


def of_memory() -> tuple[RuleSet, ...]:
    """Return the sets for measuring memory."""
    sets: dict[str, tuple[str, ...]] = {
        "no rules": (),
        "1 rule": single(1),
        "160 rules": single(160),
        "480 rules": single(480),
        "1 -S all": every_call(1),
        "10 -S all": every_call(10),
        "480 of 30 calls": many_calls(480),
        "50 dir": directories("watch"),
    }
    return (*(of_lines(name, lines) for name, lines in sets.items()), *profiles())


def profiles() -> tuple[RuleSet, ...]:
    """Return published sets: the audit package's sample for a STIG, and RHEL 9's STIG."""
    names = ("audit-samples", "rhel9-stig-audit")
    return tuple(RuleSet(name, catalogue.load(name, package_root).controls) for name in names)
