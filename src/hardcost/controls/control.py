"""The facts that a control of any kind states of itself, and the profile that lists controls.

A control is one security setting that can be on or off. The kinds are in `mechanisms/`, a file for
each. The rest of hardcost asks a control for a fact, and for its kind only where it works on that
kind alone: the proofs and predictions of audit rules, the catalogue of kernel options.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import ClassVar, Literal, Self, TypeVar

from auditrules.model.location import Location
from hardcost.controls.reach import Reach
from hardcost.model.accounts import Accounted

PlaceboKind = Literal["boot", "sysctl", "rule"]
"""What a placebo does: add unknown words to the kernel's command line, write settings with their
current values, or add audit rules and delete them again."""


class Rank(IntEnum):
    """The order of kinds in a profile; within a kind, controls stay in the order of the file."""

    AUDIT = 1
    AUDIT_RULE = 2
    SYSCTL = 3
    BOOT = 4
    SYSTEM = 5
    KERNEL = 6
    KERNEL_OPTION = 7


@dataclass(frozen=True, kw_only=True)
class Control(ABC):
    """One security setting.

    `ids` are the names by which benchmarks require it, such as `RHEL-09-652035`, and `severity` is
    the gravest that they give it (`high`, `medium`, `low` …, "" if they give none). `place` is its
    location in the user's file, None if it is in none. The three make no difference to equality.
    """

    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)
    place: Location | None = field(default=None, compare=False)

    mechanism: ClassVar[str]
    """The name of its mechanism in reports."""

    noun: ClassVar[str] = "other control"
    """The noun for one of its kind in a sentence."""

    rank: ClassVar[Rank] = Rank.SYSTEM

    in_baseline: ClassVar[bool] = False
    """Whether it is on in a bill's baseline too: it only lets others act, and is not billed."""

    whole_system: ClassVar[bool] = False
    """Whether it needs a whole Debian system; then all trials of its plan get one."""

    suspect: ClassVar[bool] = False
    """Whether it is expected to cost something, as a daemon is: a bill measures it by itself."""

    boots: ClassVar[bool] = False
    """Whether it changes the kernel's command line, so that its trials boot by themselves."""

    builds: ClassVar[bool] = False
    """Whether a kernel has to be built for it."""

    of_kernel: ClassVar[bool] = False
    """Whether it chooses the kernel that boots, or an option that it is built with."""

    fires: ClassVar[bool] = False
    """Whether its records show how often it fired; they bear its key (see `keyed`)."""

    shares_price: ClassVar[bool] = False
    """Whether having any of its kind has a price of its own (see `pays`)."""

    may_be_refused: ClassVar[bool] = False
    """Whether a guest's kernel may refuse it by itself; a search then leaves it out."""

    single: ClassVar[bool] = False
    """Whether a configuration has at most one of its kind."""

    like: ClassVar[PlaceboKind | None] = None
    """The placebo that changes the same thing."""

    enables: ClassVar[PlaceboKind | None] = None
    """The placebo that is possible only beside it."""

    lacking: ClassVar[str | None] = None
    """What a baseline is that lacks it, in words that name the kind.

    None: "none of the other controls". "": another control's words say it.
    """

    takes_records: ClassVar[bool] = False
    """Whether it takes audit's records from the kernel; else the probe does, where audit is on."""

    packages: ClassVar[tuple[str, ...]] = ()
    """The Debian packages that it consists of, whose versions a result states."""

    requires: ClassVar[type[Control] | None] = None
    """The kind without which it does nothing; it is left out together with that."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the name in reports."""

    @property
    def slot(self) -> str | None:
        """Return a name that only one control of a configuration can have; None: there is none."""
        return type(self).__name__ if self.single else None

    @property
    def placebo(self) -> PlaceboKind | None:
        """Return the placebo that changes the same thing; None if it is always there."""
        return "boot" if self.whole_system else self.like

    @property
    def baseline(self) -> str | None:
        """Return the words for a baseline that lacks it (see `lacking`)."""
        return self.lacking

    @property
    def uncounted(self) -> str | None:
        """Return why an instruction count misses some or all of its cost; else None."""
        return None

    @property
    def reach(self) -> Reach | None:
        """Return the part of the system that it acts on; None if that is unknown or everything."""
        return None

    @property
    def absent(self) -> str | None:
        """Return the device that it is for, if no guest has it; None: a guest has all it needs."""
        return None

    @property
    def form(self) -> Hashable:
        """Return a value that is equal for two controls that the kernel treats alike."""
        return self

    @property
    def setting(self) -> str:
        """Return the key of its setting in the list of defaults, the same for any spelling."""
        return self.name

    @property
    def boot_words(self) -> tuple[str, ...]:
        """Return its words of the kernel's command line that a kernel may not know."""
        return ()

    @property
    def ignores(self) -> frozenset[str]:
        """Return the codes of findings that comments in the user's file leave out."""
        return frozenset()

    @property
    def pays(self) -> bool:
        """Whether it makes the kernel collect facts about each call, a cost paid once for all."""
        return False

    @property
    def idle(self) -> tuple[Control, ...]:
        """Return two controls that pay too, and act on nothing; () if there are none like it."""
        return ()

    def with_record_key(self, key: str) -> Control:
        """Return the control whose records bear a key; itself if it leaves none."""
        return self

    def at_place(self, place: Location) -> Self:
        """Return the control at another location."""
        return replace(self, place=place)

    def switched_off(self, *, running: bool) -> Control | None:
        """Return the control that switches off all that this one is part of; None: there is none.

        A machine that is `running` already is not booted for it.
        """
        return None

    def after(self, before: Self) -> Control:
        """Return the control that two of one slot make, this being the later one."""
        return self

    def companion(self) -> Control | None:
        """Return a control that has to be there too, as it is if no table names one."""
        return None

    def absence(self) -> Control | None:
        """Return the control that a configuration without this kind needs; None: none."""
        return None

    def as_part_of(self, profile: Sequence[Control]) -> Control | None:
        """Return the control as one of a whole profile; None: it is of no use there."""
        return self


OneKind = TypeVar("OneKind", bound=Control)


def of_kind(controls: Iterable[Control], kind: type[OneKind]) -> list[OneKind]:
    """Return the controls of one kind."""
    return [one for one in controls if isinstance(one, kind)]


def first(controls: Iterable[Control], kind: type[OneKind]) -> OneKind | None:
    """Return the first control of one kind; None if there is none."""
    return next((one for one in controls if isinstance(one, kind)), None)


def comparable_part(controls: Sequence[Control], profile: Sequence[Control]) -> tuple[Control, ...]:
    """Return a part of a profile's `controls` in a form comparable with the others.

    A control that requires one left out is left out too: an auditd plug-in does nothing without
    auditd. If the profile chooses a security module and the part doesn't, there is none; otherwise
    Debian's kernel would start one by default.
    """
    kinds = {type(control) for control in controls}
    kept = tuple(one for one in controls if one.requires is None or one.requires in kinds)
    absences = {type(one): one.absence() for one in profile if type(one) not in kinds}
    return (*kept, *(one for one in absences.values() if one is not None))


def requirements_of(control: Control, controls: Sequence[Control]) -> tuple[Control, ...]:
    """Return those of `controls` that `control` requires."""
    return tuple(one for one in controls if type(one) is control.requires)


@dataclass(frozen=True)
class Profile:
    """A named list of controls, with notes on its origin for the reader.

    `accounting` has each rule of the benchmark's profile that it was made of, if it was. `remarks`
    are a line on some controls, by their names, for readers of a file that the profile becomes.
    """

    name: str
    title: str
    source: str
    controls: tuple[Control, ...]
    notes: tuple[str, ...] = ()
    accounting: tuple[Accounted, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Controls:
    """The controls of a table, or of several, before they are a profile."""

    controls: tuple[Control, ...] = ()
    notes: tuple[str, ...] = ()
    accounting: tuple[Accounted, ...] = ()

    def with_companions(self) -> tuple[Control, ...]:
        """Return the controls of a profile, kind by kind, with those that have to be there too."""
        kinds = {type(one) for one in self.controls}
        found = list(self.controls)
        for one in self.controls:
            companion = one.companion()
            if companion is not None and type(companion) not in kinds:
                kinds.add(type(companion))
                found.append(companion)
        settled = (one.as_part_of(found) for one in found)
        return tuple(sorted((one for one in settled if one is not None), key=lambda one: one.rank))


def combine_controls(parts: Sequence[Controls]) -> Controls:
    """Return the controls of several tables; of each slot the last one holds.

    What adds up, such as a kernel's patches, is added up (`Control.after`).
    """
    kept: dict[str, Control] = {}
    for at, one in enumerate(one for part in parts for one in part.controls):
        slot = one.slot if one.slot is not None else f"\0{at}"
        before = kept.get(slot)
        kept[slot] = one if before is None else one.after(before)
    return Controls(
        tuple(kept.values()),
        tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        tuple(one for part in parts for one in part.accounting),
    )


def of_profile(profile: Profile) -> Controls:
    """Return a profile's controls, to be joined with others."""
    return Controls(profile.controls, profile.notes, profile.accounting)
