"""Units of measurement, and amounts of them in words."""

from __future__ import annotations

from enum import StrEnum

from auditrules.words import Identity, count, join_in_prose, visible

__all__ = ["Identity", "Unit", "count", "is_rate", "join_in_prose", "storage", "visible"]


class Unit(StrEnum):
    """The unit of a number. Instructions are never time. Higher is better for an index only."""

    INSN_PER_OP = "insn/op"
    NS_PER_OP = "ns/op"
    INSN = "insn"
    PARALLEL_PER_OP = "parallel insn/op"
    PARALLEL = "parallel insn"
    NS = "ns"
    INDEX = "index"
    BYTES = "bytes"


def storage(size: int) -> str:
    """Return bytes of a disk for a reader, such as `1.5 MiB`."""
    for power, unit in ((30, "GiB"), (20, "MiB")):
        if size >= 1 << power:
            return f"{size / (1 << power):.1f} {unit}"
    return f"{-(-size // 1024):,} KiB"


def is_rate(unit: str) -> bool:
    """Return whether a higher value of this unit is better."""
    return unit.endswith("/s") or unit == "index"
