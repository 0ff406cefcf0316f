"""How long a trial may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hardcost.machines.machine import Guest

USUAL_LIMITS: dict[Guest, float] = {"small": 120, "compiler": 120, "debian": 1200}
"""How many seconds of host time a trial may take, by guest, unless the user says otherwise."""
