"""What each step of the kernel's audit filter costs, for one kernel: measured, and kept as TOML.

The unit is instructions. `walk` are the filter's own steps, `field` what testing a field costs with
the operator `=`, `operator` what another operator adds, `permission` what a test of `perm` costs
by what the call is, `base` and `record` what a call costs beyond the walk.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEBIAN = "debian-6.1-amd64.toml"
_TABLES = ("walk", "field", "operator", "permission", "base", "record")


class ConstantsError(ValueError):
    """A text that should hold constants does not."""


@dataclass(frozen=True)
class Constants:
    """Instructions for each step, and where they were measured (`about`: kernel, qemu, …).

    walk: `list` (the exit list is not empty), `unnamed` (a rule whose mask does not hold the call),
        `enter` (one whose mask does, up to and with the return), `outranked`, `held` (for each
        condition that holds), `matched` (beyond that, where all hold), `key` (copying a key) and
        `key-byte`, `call` (any call, where there is any rule), `name` (for each file it visits),
        `signal` (sending one, where a rule names a call that sends one), `record` and
        `record-name` (writing a record, and each visited file in it).
    field: by field, or `left:right` of a comparison.
    operator: by `KIND operator`, KIND being `number`, `user`, `group`.
    permission: `class` (each class of calls that is looked through), `open`, `openat`, `openat2`,
        `execve`, `socketcall`, `ia32`.
    base: by call of b64 that was measured, what it costs where there is any rule: all files that it
        visits, and no walk. Others are estimated from `call` and `name`.
    record: the same for writing its record, key and all.
    """

    walk: Mapping[str, float]
    field: Mapping[str, float]
    operator: Mapping[str, float]
    permission: Mapping[str, float]
    base: Mapping[str, float]
    record: Mapping[str, float]
    about: Mapping[str, str]

    @classmethod
    def of_debian(cls) -> Self:
        """Return the constants of Debian 12's kernel in an emulated guest, as shipped."""
        folder = resources.files("hardcost.auditrules.cost") / "constants"
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
            raise ConstantsError(f"these are no constants: {error}") from None
        missing = [name for name in (*_TABLES, "about") if not isinstance(data.get(name), dict)]
        if missing:
            raise ConstantsError(f"these are no constants: [{missing[0]}] is missing")
        return cls(
            **{name: MappingProxyType(_numbers(name, data[name])) for name in _TABLES},
            about=MappingProxyType({key: str(value) for key, value in data["about"].items()}),
        )

    def to_toml(self) -> str:
        """Return the constants as TOML."""
        lines = ["[about]", *(f"{key} = {_quoted(value)}" for key, value in self.about.items())]
        for name in _TABLES:
            lines += ["", f"[{name}]"]
            lines += [f"{_quoted(key)} = {value:g}" for key, value in getattr(self, name).items()]
        return "\n".join([*lines, ""])


def _numbers(name: str, table: Mapping[str, Any]) -> dict[str, float]:
    wrong = [key for key, value in table.items() if not isinstance(value, int | float)]
    if wrong:
        raise ConstantsError(f"these are no constants: {wrong[0]} of [{name}] is not a number")
    return {key: float(value) for key, value in table.items()}


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
