"""The cost of each step of one kernel's audit filter, measured and stored as TOML.

The unit is instructions; of constants that were fitted for a real machine, nanoseconds.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as field_of
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Self

from auditrules.tables.lookup import Auditctl, auditctl_of

_DEBIAN = "debian-6.1-amd64.toml"
_TABLES = ("walk", "field", "each", "operator", "permission", "base", "idle", "record")
_WITHOUT = "without"  # fitted since later: what was kept before lacks it
_CROWDING = "crowding"
NANOSECONDS = "ns"
"""The unit of constants that were fitted for a real machine."""


class ConstantsError(ValueError):
    """A text does not contain constants as it should."""


@dataclass(frozen=True)
class Constants:
    """The cost of each step, and where it was measured (`about`: unit, kernel, qemu, …).

    walk: the filter's own steps.
        `call` any call, where there is any rule; `name` each file it visits (an estimate's);
        `list` the exit list is not empty; `bucket` the same of the bucket of a visited file;
        `unnamed` a rule whose mask does not hold the call;
        `enter` one whose mask does, with the return; `outranked` one that may not decide any more;
        `matched` beyond that, where all conditions hold; `bare` (added) where there are none;
        `key`, `key-byte` copying a key; `groups` looking for a gid that is not the process's own
        among its groups, `groups !=` the same under that operator; `ppid` the first time that one
        is asked for; `signal` a call that sends one, where a rule names such a call;
        `watched-execve` executing a program of a file system on which rules watch files;
        `filesystem` a rule of that list with one field, each time that a name is noted,
        `filesystem-field` each further field; `idle`, `idle-name` what audit costs
        without rules; `record`, `record-name`, `record-key`, `record-key-byte` writing a record.
    field: testing a field with `=`, or the two of a comparison, `left:right`; `path` and
        `own-inode` in a bucket; `other` stands for one that was not measured.
    each: what a field adds for each visited file; `pair` is a comparison with a file's owner.
    operator: what an operator adds, by `KIND OPERATOR`, KIND being `number`, `user`, `group`,
        `own group` (gid and egid: the kernel asks for the operator twice), or a field that is
        compared in its own way.
    permission: what the test of `perm` adds: `class` for each class of calls that is looked through
        in vain, `write`, `read`, `attributes` for the one that holds the call, or the call's own.
    base: by call of b64, what it costs where there is any rule, with all files that it visits and
        without the walk.
    idle: by call of b64, what audit costs it without rules, and `never,task` saves.
    record: by call of b64, writing its record without a key.
    without: by operation of `syscalls`, all of it with audit on and no rules: what a cost is a part
        of. Empty in constants that were kept before it was fitted.
    crowding: of times alone: what walking so many rules takes beyond that number of `unnamed`, by
        the number of rules. A processor's first cache holds so many; the walk of more takes longer.
    """

    walk: Mapping[str, float]
    field: Mapping[str, float]
    each: Mapping[str, float]
    operator: Mapping[str, float]
    permission: Mapping[str, float]
    base: Mapping[str, float]
    idle: Mapping[str, float]
    record: Mapping[str, float]
    about: Mapping[str, str]
    without: Mapping[str, float] = field_of(default_factory=lambda: MappingProxyType({}))
    crowding: Mapping[int, float] = field_of(default_factory=lambda: MappingProxyType({}))

    @property
    def timed(self) -> bool:
        """Whether these are nanoseconds of a machine; else they are instructions."""
        return self.about.get("unit") == NANOSECONDS

    @property
    def auditctl(self) -> Auditctl:
        """The auditctl of the guest where the constants were measured."""
        return auditctl_of(self.about.get("auditd", ""))

    def crowding_cost(self, rules: int) -> float:
        """Return the cost of walking so many rules of one list beyond their own constants.

        Between two lengths that were measured it is a straight line, and so beyond the last two.
        """
        known = sorted(self.crowding.items())
        if not known or rules <= known[0][0]:
            return 0.0
        ends = next((at for at, (length, _) in enumerate(known) if length >= rules), len(known) - 1)
        (near, low), (far, high) = known[max(ends - 1, 0)], known[ends]
        return low + (high - low) * (rules - near) / (far - near) if far > near else high

    @classmethod
    @cache
    def of_debian(cls) -> Self:
        """Return the constants of Debian 12's kernel in an emulated guest, as shipped."""
        folder = resources.files("auditrules.cost") / "constants"
        return cls.from_toml((folder / _DEBIAN).read_text())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Return the constants in a text that `to_toml` wrote.

        Raises:
            ConstantsError: It is not such a text.
        """
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ConstantsError(f"these are not constants: {error}") from None
        missing = [name for name in (*_TABLES, "about") if not isinstance(data.get(name), dict)]
        if missing:
            raise ConstantsError(f"these are not constants: [{missing[0]}] is missing")
        for name in ("bucket", "filesystem-field", "groups !="):
            if name not in data["walk"]:  # fitted before it was measured
                raise ConstantsError(f"these are not constants: {name} of [walk] is missing")
        return cls(
            **{name: MappingProxyType(_numbers(name, data[name])) for name in _TABLES},
            about=MappingProxyType({key: str(value) for key, value in data["about"].items()}),
            without=MappingProxyType(_numbers(_WITHOUT, _table(data, _WITHOUT))),
            crowding=MappingProxyType(_by_length(_numbers(_CROWDING, _table(data, _CROWDING)))),
        )

    def to_toml(self) -> str:
        """Return the constants as TOML."""
        lines = ["[about]", *(f"{key} = {_quote(value)}" for key, value in self.about.items())]
        optional = [name for name in (_WITHOUT, _CROWDING) if getattr(self, name)]
        for name in (*_TABLES, *optional):
            lines += ["", f"[{name}]"]
            lines += [
                f"{_quote(str(key))} = {value:g}" for key, value in getattr(self, name).items()
            ]
        return "\n".join([*lines, ""])


def _table(data: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a table that may be missing."""
    found = data.get(name, {})
    if not isinstance(found, dict):
        raise ConstantsError(f"these are not constants: {name} is not a table")
    return found


def _numbers(name: str, table: Mapping[str, Any]) -> dict[str, float]:
    wrong = [key for key, value in table.items() if not isinstance(value, int | float)]
    if wrong:
        raise ConstantsError(f"these are not constants: {wrong[0]} of [{name}] is not a number")
    return {key: float(value) for key, value in table.items()}


def _by_length(table: Mapping[str, float]) -> dict[int, float]:
    """Return numbers by a number of rules."""
    if wrong := [key for key in table if not (key.isascii() and key.isdecimal() and len(key) < 6)]:  # noqa: PLR2004  (digits)
        raise ConstantsError(f"these are not constants: [{_CROWDING}] has {wrong[0]!r}")
    return {int(key): value for key, value in table.items()}


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
