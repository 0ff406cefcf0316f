"""The terminal that hardcost was started in, and its loss."""

from __future__ import annotations

import os

_OUTPUTS = tuple(number for number in (1, 2) if os.isatty(number))
"""The descriptors of output that led to a terminal when hardcost started."""


def leave_lost_terminal() -> None:
    """Discard output to a terminal that has been closed.

    Else a last word about an orderly end would be an error, which breaks that end off.
    """
    for number in _OUTPUTS:
        if not os.isatty(number):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
