"""What hardening adds, in words: the same in every form of an answer of `hardcost here`."""

from __future__ import annotations

from hardcost.show.text import percent

LEAST = 0.0005
"""A share below it is shown as less."""

_WHOLE = 0.1  # a share from which on a decimal says nothing
_TIMES = 2.0  # a share from which on a factor is easier to grasp


def share_words(share: float) -> str:
    """Return a share as a reader takes it in."""
    if 0 < share < LEAST:
        return f"less than {percent(LEAST)}"
    return f"{share:.0%}" if abs(share) >= _WHOLE else percent(share)


def increase_words(share: float) -> str:
    """Return what a call gets: how many times as much it takes, where that is a lot."""
    return f"{1 + share:.0f} times as many" if share >= _TIMES else f"+{share_words(share)}"
