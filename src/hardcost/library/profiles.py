"""The profiles that a request names, with its settings; and whether their controls can be applied.

A profile's name is a name of the catalogue, a file, a folder, `-` for standard input, an audit
rule, `KEY=VALUE`, what a benchmark calls a control, or a profile inside a datastream
(`FILE.xml:PROFILE`).
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path

from auditrules.library.arguments import (
    COMMAND_LINE,
    INPUT,
    STANDARD_INPUT,
    check_once,
    standard_input,
)
from auditrules.read.rule_text import is_rule
from hardcost.controls.control import Profile
from hardcost.errors import InputError, RequestError
from hardcost.library.measurement import Measuring
from hardcost.mechanisms import facts
from hardcost.model.request import CheckedRequest
from hardcost.profiles import catalogue
from hardcost.profiles.control_tables import PackageRoot
from hardcost.profiles.importers.scap.profile import load_scap_profile
from hardcost.profiles.settings import Settings, profile_of, with_settings
from hardcost.study import read
from hardcost.supply.packages.debian import package_root


@dataclass(frozen=True)
class ProfileRequest(CheckedRequest):
    """A request for profiles: which ones, and how they are measured.

    `profiles` are names, or profiles themselves; `settings` are added to each, or make a profile by
    themselves where none is named. With `scap_profile` the names are datastreams, whose profile
    `tailoring` may change. With `leave_out_faulty`, faulty lines of sysctl files are left out with
    a note.
    """

    profiles: str | Path | Profile | tuple[str | Path | Profile, ...] = ()
    _: KW_ONLY
    settings: Settings = field(default_factory=Settings)
    scap_profile: str | None = None
    tailoring: str | Path | None = None
    leave_out_faulty: bool = False
    how: Measuring = field(default_factory=Measuring)

    def load_profiles(self) -> tuple[Profile, ...]:
        """Return the profiles, with the settings.

        Raises:
            InputError: One is not as it should be; there is none; two are the same.
        """
        given = self.profiles if isinstance(self.profiles, tuple) else (self.profiles,)
        named = tuple(str(one) if isinstance(one, Path) else one for one in given)
        if self.tailoring is not None and self.scap_profile is None:
            raise RequestError("`tailoring` changes a datastream's profile: name `scap_profile`")
        if not named:
            if not self.settings:
                raise InputError("neither a profile is named nor a setting")
            return (profile_of(self.settings),)
        check_once([one for one in named if isinstance(one, str)])
        found = [one if isinstance(one, Profile) else self._load_named(one) for one in named]
        if self.settings:
            found = [with_settings(profile, self.settings) for profile in found]
        names = [profile.name for profile in found]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InputError(f"the profile '{twice[0]}' is named twice", hint="name it once")
        return tuple(found)

    def load_single_profile(self, what: str) -> Profile:
        """Return the only profile, whose rules can be loaded; `what` says what takes one.

        Raises:
            InputError: It is not as it should be, or there are several.
        """
        found = self.load_profiles()
        if len(found) > 1:
            raise InputError(f"{what} one profile at a time", hint="name one of them")
        check(found[0])
        return found[0]

    def _load_named(self, name: str) -> Profile:
        if self.scap_profile is None:
            packages = self.how.package_root
            return profile_named(name, packages, leave_out_faulty=self.leave_out_faulty)
        tailoring = None if self.tailoring is None else Path(self.tailoring)
        return load_scap_profile(Path(name), self.scap_profile, tailoring)


def profile_named(
    text: str, packages: PackageRoot = package_root, *, leave_out_faulty: bool = False
) -> Profile:
    """Return the profile that an argument names.

    `packages` finds the Debian packages that profiles are read from. With `leave_out_faulty`,
    faulty lines of sysctl files are left out with a note.

    Raises:
        InputError: It names none, or what it names is invalid.
    """
    if text in read.study_names() and not catalogue.is_there(text):
        raise InputError(f"{text} is a study, not a profile", hint=f"`hardcost run {text}` runs it")
    if text == INPUT:
        return catalogue.of_text(standard_input(), STANDARD_INPUT, packages)
    if is_rule(text):
        rule = text.strip()
        found = catalogue.of_text(rule.encode(errors="surrogateescape"), COMMAND_LINE)
        return replace(found, name=rule, title=rule)
    return catalogue.load(text, packages, leave_out_faulty=leave_out_faulty)


def names_profile(text: str) -> bool:
    """Say whether an argument names a profile, and not a run of the store."""
    return text == INPUT or is_rule(text) or catalogue.is_there(text)


def check(profile: Profile) -> None:
    """Check a profile as far as no machine is needed, such as that its rules load.

    Raises:
        InputError: Some controls can't be applied.
    """
    facts.check(profile.controls, profile.name)
