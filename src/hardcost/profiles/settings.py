"""Settings given on the command line, as a profile or added to one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hardcost.controls.control import BootParameter, Lsm, Profile
from hardcost.errors import InputError, Problem
from hardcost.profiles.bykind import Controls, of_profile, together
from hardcost.profiles.importers import sysctld

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import LsmMode

_NAMED = 3
"""Most settings that a title names."""


@dataclass(frozen=True)
class Settings:
    """Sysctls, boot parameters and a security module, as the user typed them."""

    sysctls: tuple[str, ...] = ()
    boots: tuple[str, ...] = ()
    lsm: LsmMode | None = None

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self.sysctls or self.boots or self.lsm)

    def controls(self) -> Controls:
        """Return the settings as controls.

        Raises:
            InputError: One is invalid; all mistakes are reported at once.
        """
        problems: list[Problem] = []
        sysctls, boots = [], []
        for text in self.sysctls:
            try:
                sysctls.append(sysctld.assignment(text))
            except InputError as error:
                problems += (_of("--sysctl", one.message, one.hint) for one in error.problems)
        for text in self.boots:
            boot = BootParameter(text)
            try:
                _ = boot.word
            except ValueError as error:
                problems.append(_of("--boot", str(error), "repeat --boot for each word"))
            else:
                boots.append(boot)
        if problems:
            raise InputError.of(tuple(problems))
        system = (Lsm(self.lsm),) if self.lsm else ()
        return together([Controls(sysctls=tuple(sysctls), boots=tuple(boots), system=system)])


def profile_of(settings: Settings) -> Profile:
    """Return the profile of settings alone.

    Raises:
        InputError: One is invalid.
    """
    controls = settings.controls().listed()
    name = " ".join(control.name for control in controls)
    return Profile(name, name, "", controls)


def with_settings(profile: Profile, settings: Settings) -> Profile:
    """Return a profile with settings added; they override its sysctls and security module.

    Raises:
        InputError: One is invalid.
    """
    added = settings.controls()
    names = [control.name for control in added.listed()]
    return replace(
        profile,
        name=" ".join([profile.name, *names]),
        title=f"{profile.title}, with {_listed(names)}",
        controls=together([of_profile(profile), added]).listed(),
    )


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_NAMED])
    if len(names) > _NAMED:
        shown.append(f"{len(names) - _NAMED} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _of(option: str, message: str, hint: str | None) -> Problem:
    return Problem(f"{option}: {message}", None, hint)
