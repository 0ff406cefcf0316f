"""`hardcost rules prove`: whether two sets of audit rules do the same."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.auditrules import parse
from hardcost.auditrules.kernelrule import KEY_SEPARATOR, FilterList, Test
from hardcost.auditrules.prove.prove import DEFAULT_SECONDS
from hardcost.auditrules.prove.prove import prove as proof_of
from hardcost.auditrules.prove.relation import Relation
from hardcost.auditrules.prove.words import difference_words, remark
from hardcost.auditrules.rule import RulesError
from hardcost.auditrules.semantics import Decision, DuplicateError, load
from hardcost.auditrules.translate import translate_all
from hardcost.cli.console import note
from hardcost.cli.options import format_option
from hardcost.cli.rules.common import passwd_options, target, tell_if_off
from hardcost.controls.written import problems_of
from hardcost.errors import InputError, Place, Problem
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.prove.relation import Difference, Result
    from hardcost.auditrules.rule import RuleSet
    from hardcost.auditrules.semantics import Outcome
    from hardcost.auditrules.translate import Target

_NO, _UNKNOWN = 1, 3
_INDENT = "  "


@dataclass(frozen=True)
class _Pair:
    """The two sets as the kernel would hold them."""

    a: tuple[KernelRule, ...]
    b: tuple[KernelRule, ...]


@click.command()
@click.argument("a", type=click.Path(path_type=Path, exists=True))
@click.argument("b", type=click.Path(path_type=Path, exists=True))
@click.option("--ignore-keys", is_flag=True, help="The key of a record does not matter.")
@click.option("--no-b32", is_flag=True, help="There are no 32-bit calls.")
@click.option("--at-least", is_flag=True, help="B may record more than A, but not less.")
@click.option(
    "--ignore-raised",
    is_flag=True,
    help="Nothing else, such as an LSM's denial, asks for records: 'never' is as no rule.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=DEFAULT_SECONDS,
    show_default=True,
    help="How long the proof may take before it is given up.",
)
@passwd_options
@format_option()
def prove(  # noqa: PLR0913  (a verb's options)
    a: Path,
    b: Path,
    *,
    ignore_keys: bool,
    no_b32: bool,
    at_least: bool,
    ignore_raised: bool,
    seconds: float,
    passwd: Path | None,
    group: Path | None,
    format: str,  # noqa: A002
) -> None:
    """Prove that the audit rules A and B treat every event alike, or find one that they do not.

    A and B are files of rules, or folders that are read as augenrules does. Alike means: the same
    is recorded, under the same key. A proof rests on assumptions, which are printed.

    Exit status 1 where they differ, 3 where it can't be told.

    \b
    Example:  hardcost rules prove /etc/audit/rules.d new.rules
    """
    relation = Relation(ignore_keys, no_b32, at_least, ignore_raised)
    pair = _read(a, b, passwd, group)
    result = proof_of(pair.a, pair.b, relation, seconds)
    if format == "json":
        print(json.dumps(_as_json(result, pair), indent=2))
    else:
        for line in _as_text(result, pair):
            click.echo(visible(line))
    if result.equal is not True:
        raise click.exceptions.Exit(_UNKNOWN if result.equal is None else _NO)


# Reading ----------------------------------------------------------------------------------------


def _read(a: Path, b: Path, passwd: Path | None, group: Path | None) -> _Pair:
    """Return both sets; a path that one of them shows to be a directory is one for the other too.

    Raises:
        InputError: A rule can't be read or loaded.
    """
    problems: list[Problem] = []
    written: list[RuleSet] = []
    for path in (a, b):
        try:
            written.append(parse.read([path], may_be_empty=True))
        except RulesError as error:
            problems.extend(problems_of(error))
    if problems:
        raise InputError.of(tuple(problems))
    for one in written:
        tell_if_off(one)
    known = target(parse.join(written), passwd, group)
    found = [_loadable(one, known, problems) for one in written]
    if problems:
        raise InputError.of(tuple(problems))
    return _Pair(found[0], found[1])


def _loadable(written: RuleSet, known: Target, problems: list[Problem]) -> tuple[KernelRule, ...]:
    """Return the rules that are loaded; add to `problems` what ends the loading."""
    rules, faults = translate_all(written.rules, known)
    refused = [*problems_of(RulesError(faults))] if faults else []
    taken: list[KernelRule] = []
    for rule in rules:
        try:
            load([*taken, rule])
        except DuplicateError as error:
            refused.append(_duplicate(error))
        else:
            taken.append(rule)
    if written.tolerant:
        for problem in refused:
            note(f"{problem.place}: left out, as auditctl goes on after it: {problem.message}")
    else:
        problems.extend(refused)
    return tuple(taken)


def _duplicate(error: DuplicateError) -> Problem:
    place = error.rule.source.place if error.rule.source else None
    first = error.earlier.source.place if error.earlier.source else None
    return Problem(
        f"the rule is there already, from {first}: the kernel refuses it",
        Place(place.file, place.line) if place else None,
        "remove it: auditctl -R stops at it and loads nothing behind it, unless -c or -i is set",
    )


# Showing ----------------------------------------------------------------------------------------


def _as_text(result: Result, pair: _Pair) -> list[str]:
    said = [_verdict(result)]
    if result.difference is not None:
        said += ["", _INDENT + difference_words(result.difference)]
        chosen = remark(result.difference)
        said += [*([] if chosen is None else [f"{_INDENT}({chosen})"]), ""]
        outcomes = (result.difference.outcome_a, result.difference.outcome_b)
        for name, rules, outcome in zip("AB", (pair.a, pair.b), outcomes, strict=True):
            said.append(f"{_INDENT}{name} {_outcome(outcome, rules, result.difference.list)}")
        said += ["", "The semantics of the kernel's filter confirm this event."]
    said += ["", "This holds as long as:"]
    said += [f"- {text}" for text in (*result.assumptions, *_directories(pair))]
    return said


def _verdict(result: Result) -> str:
    if result.equal is None:
        return f"It is not known whether A and B are {_wanted(result)}: {result.reason}."
    if not result.equal:
        calls = result.difference is not None and result.difference.list == "exit"
        what = "A call" if calls else "An event"
        return f"A and B are not {_wanted(result)}. {what} that shows it:"
    solved = f"{result.solved} of them by z3" if result.solved else "all of them by their words"
    return f"A and B are {_wanted(result)}: proved for {result.classes} classes of calls, {solved}."


def _wanted(result: Result) -> str:
    if result.relation.at_least:
        return "such that B records at least what A records"
    return "equivalent"


def _outcome(outcome: Outcome, rules: Sequence[KernelRule], which: FilterList) -> str:
    done = _done(outcome, which)
    if outcome.decided_by is None:
        return f"{done}: no rule decides"
    source = rules[outcome.decided_by].source
    if source is None:
        return done
    return f"{done}: {source.place}: {source.text}"


def _done(outcome: Outcome, which: FilterList) -> str:
    if which is FilterList.TASK:
        return {
            Decision.ALWAYS: "records all that the task does",
            Decision.NEVER: "records nothing that the task does",
            Decision.NONE: "asks other lists about each of the task's calls",
        }[outcome.decision]
    if not outcome.recorded:
        return "does not record it"
    key = outcome.key.replace(KEY_SEPARATOR, ", ")
    return f"records it, key {key}" if key else "records it, without a key"


def _directories(pair: _Pair) -> list[str]:
    """Return which paths were taken for directories though the rules do not say so."""
    found = {
        str(test.value)
        for rule in (*pair.a, *pair.b)
        if rule.source is not None and rule.source.text.startswith("-w")
        for test in rule.conditions
        if isinstance(test, Test) and test.field == "dir"
        if f"-w {test.value}/" not in rule.source.text
    }
    if not found:
        return []
    return [f"{', '.join(sorted(found))}: a directory, which -w watches with all that is in it"]


def _as_json(result: Result, pair: _Pair) -> dict[str, Any]:
    difference = result.difference
    return {
        "equal": result.equal,
        "relation": asdict(result.relation),
        "assumptions": [*result.assumptions, *_directories(pair)],
        "classes": result.classes,
        "solved": result.solved,
        "reason": result.reason or None,
        "difference": None if difference is None else _difference_json(difference, pair),
    }


def _difference_json(difference: Difference, pair: _Pair) -> dict[str, Any]:
    return {
        "list": difference.list.value,
        "event": difference_words(difference),
        "resolved": dict(difference.resolved),
        "a": _outcome_json(difference.outcome_a, pair.a),
        "b": _outcome_json(difference.outcome_b, pair.b),
    }


def _outcome_json(outcome: Outcome, rules: Sequence[KernelRule]) -> dict[str, Any]:
    source = None if outcome.decided_by is None else rules[outcome.decided_by].source
    place = source.place if source else None
    return {
        "decision": outcome.decision.value,
        "recorded": outcome.recorded,
        "key": outcome.key or None,
        "rule": source.text if source else None,
        "file": place.file if place else None,
        "line": place.line if place else None,
    }
