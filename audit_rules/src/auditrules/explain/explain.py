"""The rule that decides about one system call, and the cost of each rule for it."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, replace

from auditrules.cost.constants import Constants
from auditrules.cost.predict import Prediction, predict
from auditrules.explain.read_event import Described
from auditrules.kernel import semantics
from auditrules.kernel.event import Event, FileId, given_names
from auditrules.kernel.semantics import FilterDecision, FilterStep, Outcome, Verdict
from auditrules.model.kernel_rule import Condition, FieldTest, KernelRule
from auditrules.tables import lookup

_FIRST_INODE = 1 << 21
"""Inode numbers of what is not visited begin here, above those of what is."""


@dataclass(frozen=True)
class RuleWalk:
    """One rule that the call walked.

    `failed` is the condition that does not hold, where one was tested and does not. `visited` is
    the path of the file in whose bucket the rule lies, None in the list that every call walks.
    `instructions` are predicted; None where the rule was priced together with an earlier look.
    """

    rule: KernelRule
    verdict: Verdict
    failed: Condition | None = None
    visited: str | None = None
    instructions: float | None = None


@dataclass(frozen=True)
class Explanation:
    """The decision of the rules about a call, and its reasons.

    `decided_by` is the rule that decides; `key` is the record's, which may be a losing rule's.
    `exempted_by` is the rule of the list `task` that takes new processes out of audit: none of
    their calls walks a rule.
    `rules` are those that the outcome's indices mean.
    `predicted` is None where nothing is known of costs.
    """

    described: Described
    outcome: Outcome
    decided_by: KernelRule | None
    walked: tuple[RuleWalk, ...]
    predicted: Prediction | None
    rules: tuple[KernelRule, ...] = ()
    exempted_by: KernelRule | None = None


def explain_event(
    rules: Sequence[KernelRule], described: Described, constants: Constants | None = None
) -> Explanation:
    """Return the decision of the rules about a call.

    Each path that a rule names is assumed to exist and to be a separate file: no two names share
    an inode, and no visited file shares a bucket with another.

    Raises:
        DuplicateError: Two rules are the same.
        UnresolvedError: A rule names a user or group whose number is unknown.
    """
    loaded = semantics.load(rules, _files(rules, described))
    exempted_by = semantics.exempted_by(loaded, described.event)
    if exempted_by is None:
        outcome = semantics.decide(loaded, _with_given(described.event))
    else:
        outcome = Outcome(FilterDecision.NONE, recorded=False, key="", decided_by=None, walked=())
    predicted = predict(constants, loaded, described.event) if constants else None
    costs = dict(predicted.walking) if predicted else {}
    return Explanation(
        described,
        outcome,
        None if outcome.decided_by is None else loaded.rules[outcome.decided_by],
        # A rule that is looked at again, for another file, was priced the first time.
        tuple(
            _rule_walk(step, loaded.rules[step.rule], described, costs.pop(step.rule, None))
            for step in outcome.walked
        ),
        predicted,
        loaded.rules,
        None if exempted_by is None else loaded.rules[exempted_by],
    )


def _with_given(event: Event) -> Event:
    """Return the event with the names marked that the call itself gives."""
    given = given_names(lookup.call_name(event.arch, event.call))
    marked = (replace(name, given=at < given) for at, name in enumerate(event.names))
    return replace(event, names=tuple(marked))


def _files(rules: Sequence[KernelRule], described: Described) -> dict[str, FileId]:
    """Return the files by their paths.

    Files that only rules name are left out: what is absent has the last bucket, which no visited
    file has, so that no such rule is walked by chance.
    """
    directories = {rule.directory: None for rule in rules if rule.directory is not None}
    files = {path: FileId(8, 1, _FIRST_INODE + at) for at, path in enumerate(directories)}
    event = described.event
    visited = {name.path: name.file for name in event.names if name.path is not None}
    if described.exe is not None and event.exe is not None:
        visited[described.exe] = event.exe
    # A rule's path may have slashes too many.
    named = {text: posixpath.normpath(f"/{text.lstrip('/')}") for text in _named_paths(rules)}
    return (
        files | visited | {text: visited[path] for text, path in named.items() if path in visited}
    )


def _named_paths(rules: Sequence[KernelRule]) -> set[str]:
    """Return the paths that rules name, as they are written."""
    return {
        test.value
        for rule in rules
        for test in rule.conditions
        if isinstance(test, FieldTest) and isinstance(test.value, str)
        if test.field in {"path", "dir", "exe"}
    }


def _rule_walk(
    step: FilterStep, rule: KernelRule, described: Described, cost: float | None
) -> RuleWalk:
    failed = rule.conditions[step.tested - 1] if step.verdict is Verdict.FAILED else None
    visited = None if step.name is None else described.event.names[step.name].path or ""
    return RuleWalk(rule, step.verdict, failed, visited, cost)
