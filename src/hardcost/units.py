"""Units of measurement, as they are written in tables and JSON."""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """What a number counts. Instructions are never time. Of an index more is better, else less."""

    INSN_PER_OP = "insn/op"
    NS_PER_OP = "ns/op"
    INSN = "insn"
    NS = "ns"
    INDEX = "index"
