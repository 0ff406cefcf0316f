"""The rule that decides about a call, and the cost of the others, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal

from auditrules.cost.predict import Prediction
from auditrules.explain.explain import Explanation, RuleWalk
from auditrules.kernel.records import EventRecord
from auditrules.kernel.semantics import FilterDecision, Verdict
from auditrules.lint import wording
from auditrules.load.loaded_set import LoadedSet
from auditrules.model.kernel_rule import KEY_SEPARATOR, KernelRule
from auditrules.show.parts import Amount, LeftOutLine, RuleAt, RulesDocument, left_out_lines
from auditrules.tables import lookup

_TOGETHER = frozenset({Verdict.NOT_NAMED, Verdict.OUTRANKED})
"""Verdicts for which a run of rules shares one line."""

# As JSON ------------------------------------------------------------------------------------------


class EventWord(RulesDocument):
    """A word of an event, and whether it was assumed."""

    word: str
    assumed: bool


class ExplainedRecord(RulesDocument):
    """A record of a call, and the rule that drops it."""

    type: str
    written: bool
    dropped_by: RuleAt | None


class WalkedRule(RuleAt):
    """A rule that the kernel looked at, with the outcome and its cost."""

    verdict: str
    failed: str | None
    visited: str | None
    instructions: Amount | None


class ExplainedCost(RulesDocument):
    """The cost of a call, predicted in instructions."""

    unit: Literal["insn/call"]
    predicted: Literal[True]
    base: Amount
    walk: Amount
    record: Amount
    total: Amount | None
    not_predicted: str | None
    estimated: tuple[str, ...]


class ExplainDocument(RulesDocument):
    """The result of `hardcost rules explain` for a call."""

    event: tuple[EventWord, ...]
    recorded: bool
    decision: str | None
    key: str | None
    requested: bool
    records: tuple[ExplainedRecord, ...]
    exempted_by: RuleAt | None
    decided_by: RuleAt | None
    walked: tuple[WalkedRule, ...]
    cost: ExplainedCost | None
    left_out: tuple[LeftOutLine, ...]


def document(found: Explanation, rules: LoadedSet) -> ExplainDocument:
    """Return the explanation, for JSON."""
    outcome = found.outcome
    return ExplainDocument(
        event=tuple(
            EventWord(word=word, assumed=_is_assumed(found, word)) for word in found.described.words
        ),
        recorded=outcome.recorded,
        decision=None if outcome.decision is FilterDecision.NONE else outcome.decision.value,
        key=outcome.key or None,
        requested=outcome.requested,
        records=tuple(_record(found, one) for one in outcome.records),
        exempted_by=found.exempted_by and RuleAt.of(found.exempted_by),
        decided_by=found.decided_by and RuleAt.of(found.decided_by),
        walked=tuple(map(_step, found.walked)),
        cost=found.predicted and _cost(found.predicted),
        left_out=left_out_lines(rules),
    )


def _record(found: Explanation, one: EventRecord) -> ExplainedRecord:
    by = None if one.dropped_by is None else RuleAt.of(found.rules[one.dropped_by])
    return ExplainedRecord(type=one.name, written=one.dropped_by is None, dropped_by=by)


def _cost(predicted: Prediction) -> ExplainedCost:
    return ExplainedCost(
        unit="insn/call",
        predicted=True,
        base=predicted.base,
        walk=predicted.walk,
        record=predicted.recording,
        total=None if predicted.unknown else predicted.total,
        not_predicted=predicted.unknown or None,
        estimated=tuple(sorted(predicted.estimated)),
    )


def _step(step: RuleWalk) -> WalkedRule:
    return WalkedRule(
        **dict(RuleAt.of(step.rule)),
        verdict=step.verdict.name.lower(),
        failed=None if step.failed is None else wording.condition_words(step.failed),
        visited=step.visited,
        instructions=step.instructions,
    )


# As text ------------------------------------------------------------------------------------------


def text(found: Explanation, *, show_all: bool = False) -> Iterator[str]:
    """Yield an explanation line by line; `show_all` has a line for each rule."""
    given = [word for word in found.described.words if not _is_assumed(found, word)]
    assumed = [word for word in found.described.words if _is_assumed(found, word)]
    yield f"Call:    {' '.join(given)}"
    yield f"Assumed: {' '.join(assumed)}"
    yield ""
    yield _decision(found)
    if found.decided_by is not None and found.decided_by.source is not None:
        yield f"  {found.decided_by.source.text}"
    yield from _key_remark(found)
    yield from _records(found)
    yield ""
    if not found.walked:
        yield "No rule is walked."
    else:
        yield "Rules in the order of the walk, with predicted instructions:"
        yield from _walk(found, show_all=show_all)
    yield from _costs(found)


def _is_assumed(found: Explanation, word: str) -> bool:
    return word.partition("=")[0] in found.described.assumed


def _decision(found: Explanation) -> str:
    outcome = found.outcome
    if found.exempted_by is not None:
        return (
            f"Not recorded: {_place(found.exempted_by)} takes every process that is made out of"
            " audit."
        )
    if outcome.requested and not outcome.recorded:
        return (
            f"Nothing is written: {_dropper(found, outcome.records[0])} drops the SYSCALL record."
        )
    if found.decided_by is None:
        raised = ", but another part of the kernel requested the record" if outcome.recorded else ""
        done = "Recorded" if outcome.recorded else "Not recorded"
        return f"{done}: no rule decides{raised}."
    done = "Recorded" if outcome.recorded else "Not recorded"
    key = f", key {_keys(outcome.key)}" if outcome.key else ""
    if outcome.recorded and not outcome.key:
        key = ", without a key"
    return f"{done}{key}: {_place(found.decided_by)} decides."


def _dropper(found: Explanation, record: EventRecord) -> str:
    return "a rule" if record.dropped_by is None else _place(found.rules[record.dropped_by])


def _records(found: Explanation) -> Iterator[str]:
    """Say which records are written, and which rules drop the others."""
    records = found.outcome.records
    written = [record.name for record in records if record.dropped_by is None]
    if written:
        yield f"Records: {', '.join(written)}."
    if not written and records:
        key = found.decided_by.key if found.decided_by is not None else ""
        ends = f" `ausearch -k {_keys(key)}` does not find it." if key else ""
        yield f"Without it no record of the call is written.{ends}"
        return
    dropped = [record for record in records if record.dropped_by is not None]
    for by in dict.fromkeys(record.dropped_by for record in dropped):
        those = [record for record in dropped if record.dropped_by == by]
        names = ", ".join(record.name for record in those)
        yield f"Not written: {names}, which {_dropper(found, those[0])} drops."


def _key_remark(found: Explanation) -> Iterator[str]:
    """Say where the key comes from if the deciding rule has none."""
    rule, key = found.decided_by, found.outcome.key
    if rule is not None and key and rule.key != key:
        yield "  This rule has no key: the record keeps the key of a rule that matched earlier."


def _walk(found: Explanation, *, show_all: bool) -> Iterator[str]:
    rows: list[tuple[str, str, str]] = []
    call = lookup.call_name(found.described.event.arch, found.described.event.call)
    for steps in _rows(found.walked, show_all=show_all):
        cost = _sum(steps)
        verdict = _verdict(steps, call, found.decided_by)
        rows.append((_span(steps), verdict, "" if cost is None else f"{cost:,.0f}"))
    places = max(len(row[0]) for row in rows)
    verdicts = max(len(row[1]) for row in rows)
    costs = max(len(row[2]) for row in rows)
    for place, verdict, instructions in rows:
        yield f"  {place:{places}}  {verdict:{verdicts}}  {instructions:>{costs}}".rstrip()


def _rows(walked: Sequence[RuleWalk], *, show_all: bool) -> Iterator[Sequence[RuleWalk]]:
    """Yield the rules that share a line of output."""

    def alike(numbered: tuple[int, RuleWalk]) -> object:
        at, step = numbered
        if show_all or step.verdict not in _TOGETHER or step.rule.source is None:
            return at
        place = step.rule.source.place
        return (step.verdict, step.visited, place and place.file)

    for _, row in groupby(enumerate(walked), key=alike):
        yield [step for _, step in row]


def _span(steps: Sequence[RuleWalk]) -> str:
    first = _place(steps[0].rule)
    if len(steps) == 1:
        return first
    source = steps[-1].rule.source
    return f"{first}-{source.place.line}" if source and source.place else first


def _verdict(steps: Sequence[RuleWalk], call: str, decided_by: KernelRule | None) -> str:
    step = steps[0]
    where = "" if step.visited is None else f"on {step.visited}: "
    match step.verdict:
        case Verdict.NOT_NAMED:
            many = f"{len(steps)} rules do not name" if len(steps) > 1 else "does not name"
            return f"{where}{many} {call}"
        case Verdict.OUTRANKED:
            many = f"{len(steps)} rules come" if len(steps) > 1 else "comes"
            first = "another rule" if decided_by is None else _place(decided_by)
            return f"{where}{many} too late: {first} has decided"
        case Verdict.FAILED if step.failed is not None:
            return f"{where}{wording.condition_words(step.failed)} does not hold"
        case _:
            return f"{where}matches: {step.rule.action}"


def _costs(found: Explanation) -> Iterator[str]:
    predicted = found.predicted
    if predicted is None:
        return
    parts = [f"{predicted.walk:,.0f} for the rules"]
    if predicted.base:
        why = "audit is off for the process" if found.exempted_by else "any rules are loaded"
        parts.insert(0, f"{predicted.base:,.0f} because {why}")
    if predicted.recorded:
        parts.append(f"{predicted.recording:,.0f} for the record")
    if predicted.unknown:
        yield f"The call's cost is not predicted: {predicted.unknown}."
        return
    yield f"Predicted: {predicted.total:,.0f} instructions: {', '.join(parts)}."
    if predicted.estimated:
        yield f"Estimated, not measured: {', '.join(sorted(predicted.estimated))}."


def _sum(steps: Sequence[RuleWalk]) -> float | None:
    known = [step.instructions for step in steps if step.instructions is not None]
    return sum(known) if known else None


def _place(rule: KernelRule) -> str:
    return str(rule.source.place) if rule.source is not None and rule.source.place else "a rule"


def _keys(key: str) -> str:
    return ", ".join(key.split(KEY_SEPARATOR))
