"""Audit rules of a profile in a cheaper form that is proved to record the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from auditrules.auditctl.translate import Target
from auditrules.cost import histogram
from auditrules.cost.constants import Constants
from auditrules.cost.predict import Histogram
from auditrules.load.load import load_rules
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.location import Location
from auditrules.optimize.lines import Candidate
from auditrules.optimize.optimize import Optimised, OptimizeOptions, optimise
from auditrules.optimize.output import rule_text
from auditrules.optimize.permissions import class_numbers
from auditrules.read import parse
from hardcost.controls.control import Control, Profile, of_kind
from hardcost.mechanisms.audit import AuditRule, is_tolerant
from hardcost.units import count

SCANNERS = (
    "a scanner that looks for the benchmark's own lines does not find them; --no-equivalents leaves"
    " them as they are"
)
"""The note on rules that were rewritten."""


@dataclass(frozen=True)
class Equivalent:
    """A profile that does the same, and may cost less.

    `stands_for` has for each control that was rewritten, by its name, those of the original that
    it replaces. `said` says what was done; it is empty where nothing was. That the rules record the
    same is proved under `assumptions`.
    """

    profile: Profile
    stands_for: Mapping[str, tuple[Control, ...]] = field(default_factory=dict)
    said: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()

    def originals(self, control: Control) -> tuple[Control, ...]:
        """Return the controls of the original that one stands for: itself, if it is one."""
        return self.stands_for.get(control.name, (control,))


def with_cheaper_rules(
    profile: Profile,
    target: Target,
    tell: Callable[[str], None] = lambda _doing: None,
    mix: Histogram | None = None,
) -> Equivalent:
    """Return a profile whose audit rules cost less and are proved to record the same.

    It is the profile itself where no such rules are found, or where rules do not load as they are.
    Rules name users whom only the guest knows as they did. `tell` is called with each step; `mix`
    says how often calls are made (None: as on a general-purpose system).
    """
    rules = of_kind(profile.controls, AuditRule)
    found = load_rules([one.rule for one in rules], target, profile.name)
    if (
        not rules
        or is_tolerant(profile.controls)
        or found.failing
        or len(found.rules) != len(rules)
    ):
        return Equivalent(profile)
    made = optimise(
        found.rules, Constants.of_debian(), mix or histogram.general(), OptimizeOptions(), tell
    )
    if not made.saves or not made.proof.equal:
        return Equivalent(profile)
    if [rule.source and rule.source.text for rule in made.original] != [r.rule.text for r in rules]:
        return Equivalent(profile)
    written = _rules_with_origins(made, rules)
    if not _reads_back(written, made, target):
        return Equivalent(profile)
    first = profile.controls.index(rules[0])
    others = [one for one in profile.controls if not isinstance(one, AuditRule)]
    return Equivalent(
        replace(profile, controls=(*others[:first], *(one for one, _ in written), *others[first:])),
        {one.name: origins for one, origins in written},
        (_summary(len(rules), len(written), made), SCANNERS),
        _assumptions(made),
    )


def _summary(before: int, after: int, made: Optimised) -> str:
    assumed = _assumptions(made)
    under = f", if: {'; '.join(assumed)}" if assumed else ""
    return (
        f"{count(before, 'audit rule')} written as {after}, proved to record the same under the"
        f" same keys{under}"
    )


def _assumptions(made: Optimised) -> tuple[str, ...]:
    return tuple(one.text for one in made.proof.assumptions)


def _rules_with_origins(
    made: Optimised, originals: Sequence[AuditRule]
) -> list[tuple[AuditRule, tuple[Control, ...]]]:
    """Return each new rule with those that it stands for; those of other lists stay."""
    kept = [(originals[number], (originals[number],)) for number in made.others]
    return [*kept, *(_line(line, made, originals) for line in made.lines)]


def _line(
    line: Candidate, made: Optimised, originals: Sequence[AuditRule]
) -> tuple[AuditRule, tuple[Control, ...]]:
    stands_for = tuple(originals[number] for number in line.origins)
    rules = [made.original[number] for number in line.origins]
    if len(rules) == 1 and rules[0] == line.rule:
        return stands_for[0], stands_for
    plain = replace(line.rule, source=None)
    text = rule_text(plain, class_numbers(plain, rules, b32=made.options.b32))
    place = stands_for[0].rule.place if stands_for else None
    ids = tuple(dict.fromkeys(name for one in stands_for for name in one.ids))
    (read,) = parse.read_lines([(text, place or Location("rewritten", 1))]).rules
    return AuditRule(read, ids=ids), stands_for


def _reads_back(
    written: Sequence[tuple[AuditRule, tuple[Control, ...]]], made: Optimised, target: Target
) -> bool:
    """Say whether the new lines are the rules that were proved equal."""
    read = load_rules([one.rule for one, _ in written], target)
    return not read.failing and _bare(read.rules) == _bare(made.rules)


def _bare(rules: Sequence[KernelRule]) -> list[KernelRule]:
    return [replace(rule, source=None) for rule in rules]
