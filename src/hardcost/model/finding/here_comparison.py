"""Two answers of what the hardening in force on a machine costs, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hardcost.model.document import Document, IfAny, IfKnown, Located, Number
from hardcost.model.finding.here import HereItem


@dataclass(frozen=True, kw_only=True)
class HereSide:
    """One of two answers: what was looked at, and its sum; the fields are those of the answer."""

    machine: str
    kernel: str
    priced_on: str
    mix: str
    share: Number
    first_rule: Number
    not_accepted: IfKnown[Number | None] = None


@dataclass(frozen=True, kw_only=True)
class HereChange:
    """An item of both answers that differs.

    `before` and `after` are its shares, None where they are not known, and `why` says why that is.
    `was_default` and `by_default`: it was, or is, in no sum.
    """

    id: str
    kind: str
    name: str
    place: IfKnown[Located | None] = None
    before: Number | None
    after: Number | None
    was_default: bool
    by_default: bool
    why: IfKnown[str | None] = None


@dataclass(frozen=True, kw_only=True)
class HereComparison(Document):
    """Two answers of `hardcost here`, side by side.

    `incomparable` says why their figures don't compare, `difference` is how much larger the later
    sum is. `added` and `removed` are items of one answer alone, `repriced` those of both whose cost
    differs, `became_default` and `no_longer_default` those that left or joined the sum.

    `unseen_before` and `unseen_after` are what one of them could not look at, and the other could:
    what is added or removed may have been there all along. `notes` is what else there is to know.
    """

    kind: Literal["here-comparison"] = "here-comparison"
    before: HereSide
    after: HereSide
    incomparable: tuple[str, ...] = ()
    difference: Number
    added: tuple[HereItem, ...] = ()
    removed: tuple[HereItem, ...] = ()
    repriced: tuple[HereChange, ...] = ()
    became_default: tuple[HereChange, ...] = ()
    no_longer_default: tuple[HereChange, ...] = ()
    unseen_before: IfAny[tuple[str, ...]] = ()
    unseen_after: IfAny[tuple[str, ...]] = ()
    notes: IfAny[tuple[str, ...]] = ()
