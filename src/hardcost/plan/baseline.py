"""A bill's baseline in words: reports print it wherever they say "without"."""

from __future__ import annotations

from hardcost.controls.control import Profile


def baseline_in_words(profile: Profile, *, running: bool = False) -> str:
    """Return the words for a profile's baseline, such as `audit on, no rules`.

    `running`: the machine runs already, and is what it is but for the controls.
    """
    said = _words_of_controls(profile)
    return f"{said}, without a reboot" if running else said


def _words_of_controls(profile: Profile) -> str:
    """Return the words of the controls that have some, those that the baseline has first."""
    controls = sorted(profile.controls, key=lambda one: not one.in_baseline)
    words = [one.baseline for one in controls]
    parts = list(dict.fromkeys(one for one in words if one))
    if not parts:
        return "none of the controls"
    return ", ".join([*parts, *["none of the other controls"] * (None in words)])
