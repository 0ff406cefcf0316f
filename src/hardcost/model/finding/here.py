"""What the hardening in force on a machine costs, without measuring it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hardcost.model.document import Document, IfAny, IfKnown, Located, Number

MixBy = Literal["assumed", "file", "bpftrace", "perf", "strace", "proc"]
"""Who says how often calls are made: what counted them, or a file; `proc` counted some of them."""


@dataclass(frozen=True, kw_only=True)
class HereItem:
    """Something of hardening that is in force.

    `id` is the same on every machine and in every answer. `place` is the file and line that set it.
    `by_default`: the kernel or the distribution has it anyway. `share` is what it adds to a call of
    the mix on average, as a share of what that takes without it, None where that is not known;
    `known` says how it is known, `why` why it is not; `records` is the part of it that is writing
    the audit records for which a rule asks. `most` is the call that grows most, `grows` by which
    share: of a rule, of what the call takes where audit is on. `accepted` is the reason that a
    policy has for accepting it.
    """

    id: str
    kind: str
    name: str
    place: IfKnown[Located | None] = None
    by_default: bool = False
    share: Number | None = None
    records: IfAny[Number] = 0.0
    known: IfKnown[Literal["measured", "predicted"] | None] = None
    most: IfKnown[str | None] = None
    grows: IfKnown[Number | None] = None
    why: IfKnown[str | None] = None
    note: IfAny[str] = ""
    accepted: IfKnown[str | None] = None


@dataclass(frozen=True, kw_only=True)
class HereCall:
    """What all together adds to a call, in instructions, and as a share of what it takes."""

    name: str
    cost: Number
    share: Number


@dataclass(frozen=True, kw_only=True)
class MissingControl:
    """A control of a benchmark that is not in force here; `share` as of an item."""

    name: str
    share: Number | None = None


@dataclass(frozen=True, kw_only=True)
class CheaperRules:
    """Audit rules that record the same as those in force, and cost less.

    `rules` are how many there are, `into` how many the others are; `share` is what all that was set
    would add with them, `saves` how much less that is. That they record the same is proved under
    `assumptions`.
    """

    rules: int
    into: int
    share: Number
    saves: Number
    assumptions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class HereFinding(Document):
    """The hardening in force on a machine, and what it costs on a mix of calls.

    `machine` is its name, `words` those of `hardcost here` that name it, "" for the one that runs
    it. `kernel` is the release that runs, "" where that is not known, `priced_on` the one whose
    prices these are, `predicted_on` the one for which audit rules are predicted. `mix` says whose
    calls they are, `mix_by` how that is known, `counted` how many were counted here; `covered` is
    the part that the calls with prices stand for.

    `share` is what all that is no default adds to a call on average, put together from the prices
    of single controls. `first_rule` is the part of it that audit rules add whichever they are;
    `calls` is what each call gets, in the order of its share.

    `not_accepted` is the part of `share` that no policy accepts, None without a policy;
    `rules_accepted`: every audit rule is accepted, and with them what they add together.

    `cheaper` are rules in place of those in force, if they were asked for and there are such.
    `unseen` is what could not be looked at. `missing` is what the profile `against` asks for
    besides; of `unjudged` others it can't be said whether they are in force.
    """

    kind: Literal["here"] = "here"
    machine: str
    words: str
    kernel: str
    priced_on: str
    predicted_on: str
    mix: str
    mix_by: MixBy
    counted: IfKnown[int | None] = None
    covered: Number
    share: Number
    first_rule: Number = 0.0
    not_accepted: IfKnown[Number | None] = None
    rules_accepted: IfAny[bool] = False
    calls: tuple[HereCall, ...]
    items: tuple[HereItem, ...]
    cheaper: IfKnown[CheaperRules | None] = None
    unseen: tuple[str, ...] = ()
    against: IfKnown[str | None] = None
    missing: IfAny[tuple[MissingControl, ...]] = ()
    unjudged: IfAny[int] = 0
    notes: tuple[str, ...] = ()
