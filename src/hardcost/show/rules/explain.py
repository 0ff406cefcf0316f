"""`hardcost rules explain`: which rule decides about a call, and what the others cost it."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.explain.described import described
from hardcost.auditrules.explain.explain import explain as explanation_of
from hardcost.auditrules.fieldtests import UnresolvedError
from hardcost.auditrules.kernelrule import KEY_SEPARATOR
from hardcost.auditrules.rule import RulesError
from hardcost.auditrules.semantics import Decision, Verdict
from hardcost.auditrules.tables import lookup
from hardcost.auditrules.write import UnwritableError, condition_text
from hardcost.cli.monitors import work_progress
from hardcost.cli.rules import common
from hardcost.errors import InputError
from hardcost.profiles.written import problems_of
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.auditrules.eventrecords import EventRecord
    from hardcost.auditrules.explain.explain import Explanation, Walked
    from hardcost.auditrules.kernelrule import Condition, KernelRule

_TOGETHER = frozenset({Verdict.NOT_NAMED, Verdict.OUTRANKED})
"""Verdicts for which a run of rules shares one line."""


@common.for_machine
def explain(  # noqa: PLR0913  (click's options)
    texts: tuple[str, ...],
    *,
    event: str,
    show_all: bool,
    machine: common.Machine,
    leave_out_faulty: bool,
    format: str,  # noqa: A002
) -> None:
    """Show which rule decides about a call, and what each rule costs it."""
    rules = common.read(texts, machine, leave_out_faulty=leave_out_faulty)
    try:
        with work_progress() as tell:
            tell("following the call")
            found = explanation_of(rules.guessed, described(event), Constants.of_debian())
    except RulesError as error:
        raise InputError.of(problems_of(error)) from error
    except UnresolvedError as error:
        hint = "resolve them with --passwd and --group, or write numbers in the rules"
        raise InputError(str(error), hint=hint) from error
    if format == "json":
        print(json.dumps({**_data(found), "left_out": rules.left_out_data()}, indent=2))
    else:
        for line in _text(found, show_all=show_all):
            click.echo(visible(line))
    common.note_guesses(rules)


# Text -------------------------------------------------------------------------------------------


def _text(found: Explanation, *, show_all: bool) -> Iterator[str]:
    given = [word for word in found.described.words if not _is_assumed(found, word)]
    assumed = [word for word in found.described.words if _is_assumed(found, word)]
    yield f"Call:    {' '.join(given)}"
    yield f"Assumed: {' '.join(assumed)}"
    yield ""
    yield _decision(found)
    if found.decided_by is not None and found.decided_by.source is not None:
        yield f"  {found.decided_by.source.text}"
    yield from _other_key(found)
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


def _other_key(found: Explanation) -> Iterator[str]:
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


def _rows(walked: Sequence[Walked], *, show_all: bool) -> Iterator[Sequence[Walked]]:
    """Yield the rules that share a line of output."""

    def alike(numbered: tuple[int, Walked]) -> object:
        at, step = numbered
        if show_all or step.verdict not in _TOGETHER or step.rule.source is None:
            return at
        place = step.rule.source.place
        return (step.verdict, step.visited, place and place.file)

    for _, row in groupby(enumerate(walked), key=alike):
        yield [step for _, step in row]


def _span(steps: Sequence[Walked]) -> str:
    first = _place(steps[0].rule)
    if len(steps) == 1:
        return first
    source = steps[-1].rule.source
    return f"{first}-{source.place.line}" if source and source.place else first


def _verdict(steps: Sequence[Walked], call: str, decided_by: KernelRule | None) -> str:
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
            return f"{where}{_condition(step.failed)} does not hold"
        case _:
            return f"{where}matches: {step.rule.action}"


def _condition(condition: Condition) -> str:
    try:
        return condition_text(condition)
    except UnwritableError:
        return str(condition)


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


def _sum(steps: Sequence[Walked]) -> float | None:
    known = [step.instructions for step in steps if step.instructions is not None]
    return sum(known) if known else None


def _place(rule: KernelRule) -> str:
    return str(rule.source.place) if rule.source is not None and rule.source.place else "a rule"


def _keys(key: str) -> str:
    return ", ".join(key.split(KEY_SEPARATOR))


# Data -------------------------------------------------------------------------------------------


def _data(found: Explanation) -> dict[str, Any]:
    outcome, predicted = found.outcome, found.predicted
    return {
        "event": [
            {"word": word, "assumed": _is_assumed(found, word)} for word in found.described.words
        ],
        "recorded": outcome.recorded,
        "decision": None if outcome.decision is Decision.NONE else outcome.decision.value,
        "key": outcome.key or None,
        "requested": outcome.requested,
        "records": [
            {
                "type": record.name,
                "written": record.dropped_by is None,
                "dropped_by": None
                if record.dropped_by is None
                else _rule(found.rules[record.dropped_by]),
            }
            for record in outcome.records
        ],
        "exempted_by": None if found.exempted_by is None else _rule(found.exempted_by),
        "decided_by": None if found.decided_by is None else _rule(found.decided_by),
        "walked": [_step(step) for step in found.walked],
        "cost": None
        if predicted is None
        else {
            "unit": "insn/call",
            "predicted": True,
            "base": predicted.base,
            "walk": predicted.walk,
            "record": predicted.recording,
            "total": None if predicted.unknown else predicted.total,
            "not_predicted": predicted.unknown or None,
            "estimated": sorted(predicted.estimated),
        },
    }


def _step(step: Walked) -> dict[str, Any]:
    return {
        **_rule(step.rule),
        "verdict": step.verdict.name.lower(),
        "failed": None if step.failed is None else _condition(step.failed),
        "visited": step.visited,
        "instructions": step.instructions,
    }


def _rule(rule: KernelRule) -> dict[str, Any]:
    place = rule.source.place if rule.source is not None else None
    return {
        "file": place.file if place else None,
        "line": place.line if place else None,
        "rule": rule.source.text if rule.source is not None else None,
    }
