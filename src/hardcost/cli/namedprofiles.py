"""The profiles that a command line names, with its settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hardcost.cli import arguments
from hardcost.errors import InputError
from hardcost.profiles import scapprofile
from hardcost.profiles.commandline import profile_of, with_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Profile
    from hardcost.profiles.commandline import Settings


def named_profiles(
    names: Sequence[str],
    scap_profile: str | None,
    settings: Settings,
    tailoring: Path | None = None,
    *,
    leave_out_faulty: bool = False,
) -> tuple[Profile, ...]:
    """Return the profiles that were named, with the command line's settings.

    With `leave_out_faulty`, faulty lines of sysctl files are left out with a note. With
    `scap_profile` the names are datastreams, whose profile may be tailored.

    Raises:
        InputError: One is not as it should be; there is none; two are the same.
    """
    if tailoring is not None and scap_profile is None:
        raise click.UsageError("--tailoring changes a datastream's profile: name --scap-profile.")
    if not names:
        if not settings:
            raise click.UsageError("Missing argument 'PROFILE', or --sysctl, --boot or --lsm.")
        return (profile_of(settings),)
    arguments.check_once(names)
    found = [
        arguments.profile(name, leave_out_faulty=leave_out_faulty)
        if scap_profile is None
        else scapprofile.load(Path(name), scap_profile, tailoring)
        for name in names
    ]
    if settings:
        found = [with_settings(profile, settings) for profile in found]
    known = [profile.name for profile in found]
    twice = [name for name in known if known.count(name) > 1]
    if twice:
        raise InputError(f"the profile '{twice[0]}' is named twice", hint="name it once")
    return tuple(found)
