"""Constants of the cost model out of measured levels: differences, no regression.

Each constant is one measured rule cost less what of it is known already. The order matters: the
walk first, then fields, operators and so on.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from auditrules.cost import events
from auditrules.cost.constants import Constants
from hardcost.calibration.experiments import (
    BITS,
    COMPARED,
    FIELD_FAILS,
    IDS,
    MANY,
    NUMBERS,
    OF_FILES,
    recorded_calls,
)

Levels = Mapping[str, Mapping[str, float]]
"""Instructions by experiment and operation."""

_FEW = 1e-9  # instructions, where the difference of two measurements is 0 or less
_NEAR = 0.1
"""How far, as a part, what calls without files cost may be from getppid's and be taken for it."""


def fit(
    levels: Levels, about: Mapping[str, str], without: Mapping[str, float] | None = None
) -> Constants:
    """Return the constants that the levels of all `experiments` give.

    `without` is what each operation takes without rules.
    """
    fitting = _Fitting(levels)
    fitting.steps()
    fitting.fields()
    fitting.operators()
    fitting.bases()
    fitting.files()
    fitting.permissions()
    fitting.matches()
    fitting.records()
    return Constants(
        walk=fitting.walk,
        field=fitting.field,
        each=fitting.each,
        operator=fitting.operator,
        permission=fitting.permission,
        base=fitting.base,
        idle=fitting.idle,
        record=fitting.record,
        about=about,
        without=dict(without or {}),
    )


@dataclass
class _Fitting:
    levels: Levels
    walk: dict[str, float] = dataclasses.field(default_factory=dict)
    field: dict[str, float] = dataclasses.field(default_factory=dict)
    each: dict[str, float] = dataclasses.field(default_factory=dict)
    operator: dict[str, float] = dataclasses.field(default_factory=dict)
    permission: dict[str, float] = dataclasses.field(default_factory=dict)
    base: dict[str, float] = dataclasses.field(default_factory=dict)
    idle: dict[str, float] = dataclasses.field(default_factory=dict)
    record: dict[str, float] = dataclasses.field(default_factory=dict)

    def cost(self, experiment: str, operation: str = "null") -> float:
        """Return the cost of an experiment's rules for an operation."""
        return self.levels[experiment][operation] - self.levels["none"][operation]

    def on_null(self, experiment: str) -> float:
        """Return the cost in the walk of a single rule that names getppid."""
        return self.cost(experiment) - self.walk["call"] - self.walk["list"]

    def on(self, experiment: str, operation: str, others: int = 0) -> float:
        """Return the same of another operation, `others` of whose calls the rule does not name."""
        passed = (others + 1) * self.walk["list"] + others * self.walk["unnamed"]
        return self.cost(experiment, operation) - self._base_of(operation) - passed

    def _base_of(self, operation: str) -> float:
        calls = len(events.operations()[operation])
        return self.cost("unnamed", operation) - calls * (self.walk["list"] + self.walk["unnamed"])

    # Steps of the walk, fields and operators, all on getppid -----------------------------------

    def steps(self) -> None:
        walk = self.walk
        walk["call"] = self.cost("no exit rule")
        walk["unnamed"] = self.cost("unnamed 2") - self.cost("unnamed")
        walk["list"] = self.cost("unnamed") - walk["call"] - walk["unnamed"]
        uid = self.cost("uid holds") - self.cost("field uid=7")
        walk["enter"] = self.on_null("field uid=7") - uid

    def fields(self) -> None:
        for condition in FIELD_FAILS:
            name = "loginuid_set" if condition == "auid=-1" else condition.split("=")[0]
            self.field[name] = self.on_null(f"field {condition}") - self.walk["enter"]
        self.field["arch"] = self.on_null("field arch") - self.walk["enter"]
        for number in range(1, 4):
            self.field[f"a{number}"] = self.field["a0"]
        uid = self.field["uid"]
        held = self.on_null("gid holds") - self.walk["enter"] - uid
        self.walk["groups"] = self.field["gid"] - held
        self.field["gid"] -= self.walk["groups"]
        self.field["egid"] -= self.walk["groups"]
        both = self.cost("ppid 2") - self.cost("field ppid=77777")
        self.walk["ppid"] = self.on_null("field ppid=77777") - both
        self.field["ppid"] -= self.walk["ppid"]

    def operators(self) -> None:
        uid, enter = self.field["uid"], self.walk["enter"]
        for operator, holds in NUMBERS:
            cost = self.on_null(f"number {operator}") - enter - (uid if holds else 0)
            self.operator[f"number {operator}"] = cost - self.field["pid"]
        for operator in BITS:
            cost = self.on_null(f"number {operator}") - enter
            self.operator[f"number {operator}"] = cost - self.field["pers"]
        for operator, _ in IDS:
            user = self.on_null(f"user {operator}") - enter - uid
            self.operator[f"user {operator}"] = user
            group = self.on_null(f"group {operator}") - enter - self.field["sgid"]
            self.operator[f"group {operator}"] = group
            own = self.on_null(f"own group {operator}") - enter - self.field["gid"]
            self.operator[f"own group {operator}"] = own
        other = self.on_null("own group !=, holds") - enter - uid - self.field["gid"]
        self.walk["groups !="] = other - self.operator["own group !="]
        for name in ("exe", "filetype"):
            cost = self.on_null(f"{name} !=") - enter - uid
            self.operator[f"{name} !="] = cost - self.field[name]
        for pair in COMPARED:
            kind = "user" if "uid" in pair or "auid" in pair else "group"
            cost = self.on_null(f"pair {pair}") - enter
            # Without files nothing is compared with their owner.
            apart = 0.0 if "obj" in pair else self.operator[f"{kind} !="]
            self.field[pair] = cost - apart
        self.field["other"] = self.field["pid"]

    # Calls and files ---------------------------------------------------------------------------

    def bases(self) -> None:
        """Share an operation's base among its calls, by the files that they visit."""
        call = self.walk["call"]
        null = -self.cost("task never")
        by_unknown = sorted(events.operations().items(), key=lambda entry: len(set(entry[1])))
        for operation, calls in by_unknown:
            saved = _plain(calls, null, -self.cost("task never", operation))
            base = _plain(calls, call, self._base_of(operation))
            self._share(self.base, base, calls, call)
            self._share(self.idle, saved, calls, null)
        self.walk["name"] = self.base["newfstatat"] - call
        self.walk["idle"] = null
        self.walk["idle-name"] = self.idle["newfstatat"] - null

    @staticmethod
    def _share(table: dict[str, float], cost: float, calls: tuple[str, ...], call: float) -> None:
        visits = {name: len(events.typical(name).names) for name in calls}
        missing = [name for name in calls if name not in table]
        rest = cost - sum(table.get(name, 0.0) for name in calls)
        if missing and not any(visits[name] for name in missing):
            table.update({name: rest / len(missing) for name in missing})
            return
        rest -= call * sum(not visits[name] for name in missing)
        every = sum(visits[name] for name in missing)
        table.update(
            {name: rest * visits[name] / every if visits[name] else call for name in missing}
        )

    def files(self) -> None:
        enter, base = self.walk["enter"], self._base_of("stat")
        # chmod visits one file, and takes the same each time.
        for condition in FIELD_FAILS:
            name = condition.split("=")[0]
            if name in OF_FILES:
                cost = self.on(f"each {condition}", "chmod") - enter
                self.each[name] = cost - self.field[name]
        self.each["inode"] = self.each["obj_uid"]
        self.field["inode"] = self.field["obj_uid"]
        cost = self.on("each pair", "chmod") - enter - self.field["auid:obj_uid"]
        self.each["pair"] = cost - self.operator["user !="]
        walked = self.cost("bucket", "stat") - base
        bucket = self.walk["bucket"] = walked - self.walk["unnamed"]
        self.field["path"] = self.cost("path", "stat") - base - enter - bucket
        self.field["own-inode"] = self.cost("inode", "stat") - base - enter - bucket
        outranked = self.cost("outranked", "stat") - self.cost("outranking", "stat")
        self.walk["outranked"] = outranked - bucket
        self.walk["watched-execve"] = self.cost("marked", "exec") - self._base_of("exec")
        hidden = self.cost("filesystem", "stat")
        self.walk["filesystem"] = hidden - self.cost("unnamed", "stat")
        self.walk["filesystem-field"] = self.cost("filesystem key", "stat") - hidden
        signal = self.on("signal", "signal", others=1)
        self.walk["signal"] = signal - enter - self.field["uid"]

    def permissions(self) -> None:
        enter, uid, perm = self.walk["enter"], self.field["uid"], self.field["perm"]
        table = self.permission
        table["class"] = self.on_null("perm r") - enter - perm
        table["openat"] = self.on("perm openat", "open", others=1) - enter - perm
        table["open"] = table["openat2"] = table["openat"]
        tested = self.cost("perm execve", "exec") - self.cost("execve", "exec")
        table["execve"] = tested / MANY - perm
        table["execveat"] = table["socketcall"] = table["execve"]
        table["write"] = self.on("perm w hit", "rename") - enter - uid - perm
        table["attributes"] = self.on("perm a hit", "chmod") - enter - uid - perm
        table["read"] = table["attributes"]
        table["ia32"] = 0.0

    # What matches ------------------------------------------------------------------------------

    def matches(self) -> None:
        walk = self.walk
        walk["matched"] = self.on_null("never") - walk["enter"] - self.field["uid"]
        walk["bare"] = self.on_null("never bare") - walk["enter"] - walk["matched"]
        short, long = (self.cost(f"never key {length}") for length in (8, 72))
        walk["key-byte"] = (long - short) / 64
        walk["key"] = short - self.cost("never") - 8 * walk["key-byte"]

    def records(self) -> None:
        walk = self.walk
        matched = walk["enter"] + self.field["uid"] + walk["matched"]
        self.record["getppid"] = walk["record"] = self.on_null("record") - matched
        short, long = (self.cost(f"record key {length}") for length in (8, 72))
        walk["record-key-byte"] = (long - short) / 64 - walk["key-byte"]
        copied = walk["key"] + 8 * (walk["key-byte"] + walk["record-key-byte"])
        walk["record-key"] = short - self.cost("record") - copied
        for operation, call in recorded_calls():
            calls = events.operations()[operation]
            named = calls.count(call)
            cost = self.on(f"record {call}", operation, others=len(calls) - named)
            cost -= (named - 1) * walk["list"]
            if call == "kill":  # the rule names it
                cost -= walk["signal"]
            self.record[call] = cost / named - matched
        by_name = self.record["newfstatat"] - walk["record"]
        walk["record-name"] = max(by_name, _FEW)


def _plain(calls: tuple[str, ...], each: float, measured: float) -> float:
    """Return the cost for calls that visit no file: `each`, as getppid, where that is near.

    The code is the same. What is left is the operation's own spread, as of `fork`; where there is
    more to a call, as to `connect`, what was measured holds.
    """
    plain = each * len(calls)
    of_files = any(events.typical(name).names for name in calls)
    return plain if not of_files and abs(measured - plain) <= _NEAR * plain else measured
