"""The rules of a benchmark's profile, each with its outcome."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hardcost.model.document import IfAny

RuleOutcome = Literal["priced", "free", "no-run-time-cost", "not-priced"]
"""`priced`: its controls are on the bill; `free`: they were measured, and their cost is not
distinguishable from 0; `no-run-time-cost`: it asks for nothing that a running program pays for;
`not-priced`: it may cost something, which is not measured."""


@dataclass(frozen=True)
class Accounted:
    """A rule of a benchmark's profile, and its outcome.

    `rule` is its id without the content's prefix, `ids` are its other names, `severity` is the
    benchmark's. `kind` is the class of rules that it belongs to, such as "file owners and modes";
    for a rule with controls, their kind, such as "audit". `why` says why it is not priced, or has
    no cost. `controls` are the names of the controls that carry it out.
    """

    rule: str
    title: str
    severity: str
    ids: tuple[str, ...]
    outcome: RuleOutcome
    kind: str
    why: IfAny[str] = ""
    controls: IfAny[tuple[str, ...]] = ()
