"""The state that a trial measures: a configuration of controls, and the set-up of its guest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hardcost.controls.control import Control
from hardcost.model.role import AxisLevel, Named, Role


@dataclass(frozen=True)
class Configuration:
    """One exact state to be measured, and its role."""

    role: Role
    controls: tuple[Control, ...] = ()

    @property
    def name(self) -> str:
        """Return the name in the store and in reports."""
        return str(self.role)

    @property
    def levels(self) -> tuple[AxisLevel, ...]:
        """Return the levels of the axes that span it in a study."""
        return self.role.levels if isinstance(self.role, Named) else ()


@dataclass(frozen=True)
class Setup:
    """The set-up of a trial's guest, and its recorders.

    `fresh`: a cold boot for each trial. `init` starts a Debian guest's services. `record` names the
    recorders, in order. `whole`: the guest is a whole Debian system, whatever the workload needs.
    `by_function`: it is watched which functions execute how much, `traced`: and which process runs
    when; `lines` names a function whose lines are counted one by one.
    """

    fresh: bool = False
    init: Literal["probe", "systemd"] = "probe"
    record: tuple[str, ...] = ()
    whole: bool = False
    by_function: bool = False
    traced: bool = False
    lines: str = ""


AS_USUAL = Setup()
"""From a snapshot, started by the probe, without recorders."""
