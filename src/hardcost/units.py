"""Units of measurement, as shown in tables and JSON."""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """What a number counts. Instructions are never time. Higher is better for an index only."""

    INSN_PER_OP = "insn/op"
    NS_PER_OP = "ns/op"
    INSN = "insn"
    NS = "ns"
    INDEX = "index"


def count(amount: int, one: str, several: str | None = None) -> str:
    """Return an amount with its noun, such as `1 control` and `70 controls`."""
    return f"{amount:,} {one if amount == 1 else several or one + 's'}"


def is_rate(unit: str) -> bool:
    """Return whether a higher value of this unit is better."""
    return unit.endswith("/s") or unit == "index"
