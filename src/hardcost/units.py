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


def counted(amount: int, one: str) -> str:
    """Return an amount with its noun, such as `1 trial` and `70 trials`."""
    return f"{amount:,} {one if amount == 1 else one + 's'}"
