"""The profiles that a command line names, with its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hardcost.cli import options
from hardcost.errors import InputError
from hardcost.profiles.catalogue import load, load_scap
from hardcost.profiles.commandline import profile_of, with_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Profile
    from hardcost.profiles.commandline import Settings


def named_profiles(
    names: Sequence[str], scap_profile: str | None, settings: Settings
) -> tuple[Profile, ...]:
    """Return the profiles that were named, with the command line's settings.

    Raises:
        InputError: One is not as it should be; there is none; two are the same.
    """
    if not names:
        if not settings:
            raise click.UsageError("Missing argument 'PROFILE', or --sysctl, --boot or --lsm.")
        return (profile_of(settings),)
    found = [
        load(name, options.package_root) if scap_profile is None else load_scap(name, scap_profile)
        for name in names
    ]
    if settings:
        found = [with_settings(profile, settings) for profile in found]
    known = [profile.name for profile in found]
    twice = [name for name in known if known.count(name) > 1]
    if twice:
        raise InputError(f"the profile '{twice[0]}' is named twice", hint="name it once")
    return tuple(found)
