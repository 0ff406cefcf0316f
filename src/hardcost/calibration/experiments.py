"""The short measurements that the constants of the cost model are fitted from.

Each is a few rules, and the calls that are measured under them. `null` (getppid) visits no file, so
what a rule on it costs is the filter's walk and nothing else. The rules are made so that a
condition's result is known: who acts is user 1000, with all ids alike and a small process number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from auditrules.cost import events
from hardcost.calibration.rule_set_costs import Often

NEVER_NAMED = "-a always,exit -F arch=b64 -S swapoff"
"""A rule that no measured call is named by; it may have more conditions."""

FILES = tuple(f"/srv/hardcost/{number:02}" for number in range(32))
"""Files with 32 inode numbers in a row: one lies in each bucket."""

DIRECTORY = "/srv/hardcost-tree"
FIELD_FAILS = (
    "uid=7", "euid=7", "suid=7", "fsuid=7", "auid=7", "gid=7", "egid=7", "sgid=7", "fsgid=7",
    "pid=77777", "ppid=77777", "sessionid=77777", "pers=77", "exit=77777", "success=0",
    "a0=77777", "saddr_fam=2", "auid=-1", "obj_uid=7", "obj_gid=7", "devmajor=77",
    "devminor=255", "filetype=socket", f"dir={DIRECTORY}", f"exe={FILES[0]}", "perm=x",
)  # fmt: skip
"""Conditions that fail for `null`, in terms of one field each."""

NUMBERS = (("!=", True), ("<", True), (">", False), (">=", False), ("<=", True))
"""How `pid` compares with a number beyond all: the operator, and whether that holds."""

BITS = ("&", "&=")
IDS = (("!=", 1000), ("<", 7), (">", 7000), (">=", 7000), ("<=", 7))
"""Comparisons of the id 1000 that fail."""

COMPARED = (
    "uid:obj_uid", "gid:obj_gid", "euid:obj_uid", "egid:obj_gid", "auid:obj_uid", "suid:obj_uid",
    "sgid:obj_gid", "fsuid:obj_uid", "fsgid:obj_gid", "uid:auid", "uid:euid", "uid:fsuid",
    "uid:suid", "auid:fsuid", "auid:suid", "auid:euid", "euid:suid", "euid:fsuid", "suid:fsuid",
    "gid:egid", "gid:fsgid", "gid:sgid", "egid:fsgid", "egid:sgid", "sgid:fsgid",
)  # fmt: skip
"""The pairs that -C compares."""

OF_FILES = ("obj_uid", "obj_gid", "devmajor", "devminor", "filetype")
MANY = 200
"""Rules that are loaded together where a single one's cost would drown in a call's own spread."""


VARYING = {"fork": Often(9, 60), "exec": Often(17, 30)}
"""Operations whose cost varies from process to process, by more than a few rules cost."""

THOROUGH = {"fork": Often(9, 160), "exec": Often(17, 60)}
"""The same where constants follow from them, whose error all predictions share."""


@dataclass(frozen=True)
class Experiment:
    """Rules, and operations of `syscalls` to measure under them, each `samples` times.

    Where it is `thorough`, those that vary from process to process are measured in many.
    """

    name: str
    rules: tuple[str, ...]
    operations: tuple[str, ...] = ("null",)
    samples: int = 9
    thorough: bool = False

    def how_often(self) -> dict[str, Often]:
        """Return how often each operation is measured."""
        return {name: self._how_often(name) for name in self.operations}

    def _how_often(self, name: str) -> Often:
        if self.thorough and name in THOROUGH:
            return THOROUGH[name]
        return Often(self.samples)


def rule_of_call(call: str, *conditions: str, action: str = "always") -> str:
    """Return a rule that names one call of both architectures' number, with -F conditions."""
    words = [f"-a {action},exit -S {call}", *(f"-F {condition}" for condition in conditions)]
    return " ".join(words)


def experiments() -> Iterator[Experiment]:
    """Return all that is measured for the constants of one kernel; the first two have no rules."""
    everything = tuple(events.operations())
    # A guest's first hundred processes take less to make than those after them.
    yield Experiment("before", (), tuple(THOROUGH), thorough=True)
    yield Experiment("none", (), everything, 99, thorough=True)
    yield Experiment("unnamed", (f"{NEVER_NAMED} -F uid=7",), everything, 99, thorough=True)
    yield Experiment("unnamed 2", tuple(f"{NEVER_NAMED} -F uid={uid}" for uid in (7, 8)))
    yield Experiment("no exit rule", ("-a always,exit -F inode=5 -S swapoff",))
    yield Experiment("task never", ("-a never,task",), everything, 33, thorough=True)
    yield from _of_fields()
    yield from _of_operators()
    yield from _of_files()
    yield from _of_permissions()
    yield from _of_matches()
    yield from _of_records()


def _of_fields() -> Iterator[Experiment]:
    for condition in FIELD_FAILS:
        yield Experiment(f"field {condition}", (rule_of_call("getppid", condition),))
    arch = "-a always,exit -F arch=b32 -S 110 -F uid=7"  # getppid's number, there iopl's
    yield Experiment("field arch", (arch,))
    yield Experiment("uid holds", (rule_of_call("getppid", "uid=1000", "uid=7"),))
    yield Experiment("gid holds", (rule_of_call("getppid", "gid=1000", "uid=7"),))
    yield Experiment(
        "ppid 2", tuple(rule_of_call("getppid", f"ppid={pid}") for pid in (77777, 77778))
    )
    for pair in COMPARED:
        rule = f"{rule_of_call('getppid')} -C {pair.replace(':', '!=')}"
        yield Experiment(f"pair {pair}", (rule,))


def _of_operators() -> Iterator[Experiment]:
    for operator, _ in NUMBERS:
        rule = rule_of_call("getppid", f"pid{operator}77777", "uid=7")
        yield Experiment(f"number {operator}", (rule,))
    for operator in BITS:
        yield Experiment(f"number {operator}", (rule_of_call("getppid", f"pers{operator}77"),))
    for operator, value in IDS:
        yield Experiment(f"user {operator}", (rule_of_call("getppid", f"uid{operator}{value}"),))
        yield Experiment(f"group {operator}", (rule_of_call("getppid", f"sgid{operator}{value}"),))
        yield Experiment(
            f"own group {operator}", (rule_of_call("getppid", f"gid{operator}{value}"),)
        )
    yield Experiment("own group !=, holds", (rule_of_call("getppid", "gid!=7", "uid=7"),))
    yield Experiment("exe !=", (rule_of_call("getppid", f"exe!={FILES[0]}", "uid=7"),))
    yield Experiment("filetype !=", (rule_of_call("getppid", "filetype!=socket", "uid=7"),))


def _of_files() -> Iterator[Experiment]:
    for condition in FIELD_FAILS:
        if condition.split("=")[0] in OF_FILES:
            rule = rule_of_call("chmod", condition)
            yield Experiment(f"each {condition}", (rule,), ("chmod",))
    pair = f"{rule_of_call('chmod')} -C auid!=obj_uid"
    yield Experiment("each pair", (pair,), ("chmod",))
    watch = "-a always,exit -F path="
    yield Experiment("path", tuple(f"{watch}{file} -S newfstatat" for file in FILES), ("stat",))
    marked = (f"{watch}{FILES[0]} -S swapoff",)
    yield Experiment("marked", marked, ("exec",), thorough=True)
    elsewhere = tuple(f"-a always,exit -F inode={32000 + at} -S swapoff" for at in range(32))
    yield Experiment("bucket", elsewhere, ("stat",))
    inodes = tuple(f"-a always,exit -F inode={32000 + at} -S newfstatat" for at in range(32))
    yield Experiment("inode", inodes, ("stat",))
    hidden = (f"{NEVER_NAMED} -F uid=7", "-a never,filesystem -F fstype=tracefs")
    yield Experiment("filesystem", hidden, ("stat",))
    keyed = (hidden[0], f"{hidden[1]} -k key")
    yield Experiment("filesystem key", keyed, ("stat",))
    first = "-A never,exit -S newfstatat -F uid=1000"
    ranked = (first, *(f"{watch}{file} -S newfstatat" for file in FILES))
    yield Experiment("outranked", ranked, ("stat",))
    yield Experiment("outranking", (first,), ("stat",))
    signal = rule_of_call("kill", "uid=7")
    yield Experiment("signal", (signal,), ("signal",), 33)


def _of_permissions() -> Iterator[Experiment]:
    yield Experiment("perm r", (rule_of_call("getppid", "perm=r"),))
    yield Experiment("perm openat", (rule_of_call("openat", "perm=w"),), ("open",))
    yield Experiment("perm w hit", (rule_of_call("rename", "perm=w", "uid=7"),), ("rename",))
    yield Experiment("perm a hit", (rule_of_call("chmod", "perm=a", "uid=7"),), ("chmod",))
    users = range(2, MANY + 2)
    plain = tuple(rule_of_call("execve", f"uid={uid}") for uid in users)
    tested = tuple(rule_of_call("execve", "perm=x", f"uid={uid}") for uid in users)
    yield Experiment("execve", plain, ("exec",), 33)
    yield Experiment("perm execve", tested, ("exec",), 33)


def _of_matches() -> Iterator[Experiment]:
    yield Experiment("never bare", (rule_of_call("getppid", action="never"),))
    yield Experiment("never", (rule_of_call("getppid", "uid=1000", action="never"),))
    for length in (8, 72):
        rule = f"{rule_of_call('getppid', 'uid=1000', action='never')} -k {'k' * length}"
        yield Experiment(f"never key {length}", (rule,))


def _of_records() -> Iterator[Experiment]:
    rule = rule_of_call("getppid", "uid=1000")
    yield Experiment("record", (rule,), samples=33)
    for length in (8, 72):
        yield Experiment(f"record key {length}", (f"{rule} -k {'k' * length}",), samples=33)
    for operation, call in recorded_calls():
        rule = rule_of_call(call, "uid=1000")
        yield Experiment(f"record {call}", (rule,), (operation,), 33)


def recorded_calls() -> Iterator[tuple[str, str]]:
    """Return each call once whose record is measured, and the operation that makes it."""
    seen = {"getppid"}
    for operation, calls in events.operations().items():
        for call in calls:
            if call not in seen:
                seen.add(call)
                yield operation, call
