"""The price of having any audit rule, whichever it is: the trials that measure it.

As soon as one rule is there, the kernel collects what each call does, and walks the exit list as
the call returns. That is paid once. It is what one idle rule adds, less what a second one adds,
which pays for itself alone. They are measured in the company of the profile's other controls, as
its items are. Any kind of control that says `pays` and `idle` is measured so.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control, comparable_part
from hardcost.model.role import Idle


def indices_paid_for(controls: Sequence[Control]) -> tuple[int, ...]:
    """Return the indices of the controls that make the kernel collect facts about calls."""
    return tuple(index for index, one in enumerate(controls) if one.pays)


def configurations(controls: Sequence[Control]) -> tuple[Configuration, ...]:
    """Return the configurations beside a profile's `controls`; () if none has idle ones like it."""
    idle = next((one.idle for one in controls if one.pays and one.idle), ())
    if not idle:
        return ()
    others = comparable_part([one for one in controls if not one.pays], controls)
    return tuple(
        Configuration(Idle(number), (*others, *idle[:number])) for number in range(len(idle) + 1)
    )
