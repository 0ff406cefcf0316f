"""Facts about controls that need no machine, collected from all mechanisms."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hardcost.controls.control import Control, Profile
from hardcost.mechanisms.registry import ALL
from hardcost.units import count


def check(controls: Sequence[Control], name: str) -> None:
    """Check the controls of a profile `name` as far as no machine is needed.

    Raises:
        InputError: Some can't be applied; all of one kind are reported at once.
    """
    for one in ALL:
        one.check(controls, name)


def steady(
    controls: Sequence[Control], among: Sequence[Control] | None = None
) -> tuple[Control, ...]:
    """Return the controls so that leaving out any of them changes nothing else.

    `among` are those that may be left out, if they are others.
    """
    found = controls
    for one in ALL:
        found = one.steady(found, controls if among is None else among)
    return tuple(found)


def remarks(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return remarks for the reader of the controls' bill."""
    return tuple(text for one in ALL for text in one.remarks(controls))


def overruled_controls(controls: Sequence[Control]) -> tuple[tuple[str, str], ...]:
    """Return each control, by its name, that another switches off, and which does."""
    return tuple(found for one in ALL for found in one.overruled_controls(controls))


def profile_in_guest(profile: Profile) -> Profile:
    """Return a profile without the settings of devices that no guest has, with a note."""
    kept = tuple(one for one in profile.controls if one.absent is None)
    devices = [one.absent for one in profile.controls if one.absent is not None]
    if not devices or not kept:
        return profile
    names = ", ".join(sorted(set(devices)))
    note = f"{count(len(devices), 'setting')} of devices that no guest has are left out: {names}"
    return replace(profile, controls=kept, notes=(*profile.notes, note))
