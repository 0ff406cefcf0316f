"""What hardening adds, in words: the same in every form of an answer of `hardcost here`."""

from __future__ import annotations

from auditrules.cost.events import operations
from hardcost.model.finding.here import HereFinding
from hardcost.show.text import percent

HAVING_RULES = "the fixed cost of having audit rules"
"""What all audit rules add together, whichever they are."""

LEAST = 0.0005
"""A share below it is shown as less."""

FACTOR_FROM = 1.0
"""A share from which on a factor is easier to grasp."""

_WHOLE = 0.1  # a share from which on a decimal says nothing
_TEN = 9.5  # a factor from which on a decimal says nothing
_UNDOING = frozenset({"unlink", "rmdir"})
_CHEAPEST = "null"


def share_words(share: float) -> str:
    """Return a share as a reader takes it in."""
    if 0 < share < LEAST:
        return f"less than {percent(LEAST)}"
    return f"{share:.0%}" if abs(share) >= _WHOLE else percent(share)


def increase_words(share: float) -> str:
    """Return what a call gets: how many times as much it takes, where that is a lot."""
    if share < FACTOR_FROM:
        return f"+{share_words(share)}"
    times = 1 + share
    return f"{times:.0f} times" if times >= _TEN else f"{times:.1f} times"


def cheaper_sentence(found: HereFinding) -> str:
    """Return what cheaper audit rules would make of the sum; "" without such."""
    if found.cheaper is None:
        return ""
    return (
        f"With cheaper audit rules: {share_words(found.cheaper.share)} instead of"
        f" {share_words(found.share)}."
    )


def call_words(name: str) -> str:
    """Return what a call is called, with what undoes it where that is counted with it."""
    calls = operations().get(name, ())
    if name == _CHEAPEST:
        return f"{name} ({calls[0]})"
    return "+".join((name, *(one for one in calls if one in _UNDOING)))
