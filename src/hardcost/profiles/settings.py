"""Single settings, as a profile or added to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from hardcost.controls.control import Controls, Profile, combine_controls, of_profile
from hardcost.errors import InputError, Problem, RequestProblem
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.lsm import Lsm, LsmMode
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.request import CheckedRequest

_NAMED = 3
"""Most settings that a title names."""


@dataclass(frozen=True)
class Settings(CheckedRequest):
    """Sysctls, boot parameters and a security module, as the user typed them."""

    sysctls: tuple[str, ...] = ()
    boots: tuple[str, ...] = ()
    lsm: LsmMode | None = None

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the fields that hold any."""
        return tuple(one.name for one in fields(self) if getattr(self, one.name))

    def __bool__(self) -> bool:
        return bool(self.given)

    def controls(self) -> Controls:
        """Return the settings as controls.

        Raises:
            InputError: One is invalid; all mistakes are reported at once.
        """
        problems: list[Problem] = []
        sysctls, boots = [], []
        for text in self.sysctls:
            try:
                sysctls.append(Sysctl.of(text))
            except InputError as error:
                problems += (
                    _field_problem("sysctls", one.message, one.hint) for one in error.problems
                )
        for text in self.boots:
            boot = BootParameter(text)
            try:
                _ = boot.word
            except ValueError as error:
                problems.append(_field_problem("boots", str(error), "repeat `boots` for each word"))
            else:
                boots.append(boot)
        if problems:
            raise InputError.of(tuple(problems))
        system = (Lsm(self.lsm),) if self.lsm else ()
        return combine_controls([Controls((*sysctls, *boots, *system))])


def profile_of(settings: Settings) -> Profile:
    """Return the profile of settings alone.

    Raises:
        InputError: One is invalid.
    """
    controls = settings.controls().with_companions()
    name = " ".join(control.name for control in controls)
    return Profile(name, name, "", controls)


def with_settings(profile: Profile, settings: Settings) -> Profile:
    """Return a profile with settings added; they override its sysctls and security module.

    Raises:
        InputError: One is invalid.
    """
    added = settings.controls()
    names = [control.name for control in added.with_companions()]
    return replace(
        profile,
        name=" ".join([profile.name, *names]),
        title=f"{profile.title}, with {_join_names(names)}",
        controls=combine_controls([of_profile(profile), added]).with_companions(),
    )


def _join_names(names: Sequence[str]) -> str:
    shown = list(names[:_NAMED])
    if len(names) > _NAMED:
        shown.append(f"{len(names) - _NAMED} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _field_problem(field: str, message: str, hint: str | None) -> Problem:
    return RequestProblem(f"`{field}`: {message}", None, hint)
