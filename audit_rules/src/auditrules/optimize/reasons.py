"""Why a changed line records the same as those that it came from.

What is recorded is proved for the whole set; these sentences say it of each line, for its reader.
"""

from __future__ import annotations

from auditrules.optimize import never, signals
from auditrules.optimize.changes import (
    BOTH_ABIS,
    MERGED,
    NARROWED,
    NEEDLESS,
    RANGE,
    REORDERED,
    SHADOWED,
)
from auditrules.optimize.lines import Candidate

WHY = {
    SHADOWED: "this rule matches whatever the others did, and decides before them or as they do",
    MERGED: "the lines have the same action, conditions and key, and differ only in their calls",
    RANGE: "the lines differ only in one value, and the range holds for just the values of both",
    BOTH_ABIS: (
        "the lines differ only in the ABI, and its conditions let no other call of these numbers"
        " through"
    ),
    NARROWED: "no other call can meet its conditions",
    NEEDLESS: "the conditions that are gone hold whenever the others do",
    REORDERED: "a rule matches where all of its conditions hold, whatever their order",
    signals.KEPT: "the call that sends signals is named, but can't meet the conditions",
    never.NEVER_FIRST: "no rule below matches these calls",
}
"""Why each kind of change keeps the same records."""

DROPPED = "no call is ever decided by it"
"""Why a line without a replacement is not needed."""


def why(line: Candidate) -> str:
    """Return in a sentence why a changed line records the same; empty for one that is unchanged."""
    said = "; ".join(WHY[what] for what in line.done)
    return f"The same is recorded: {said}." if said else ""
