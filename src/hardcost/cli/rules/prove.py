"""`hardcost rules prove`: whether two sets of audit rules are equivalent."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from hardcost.auditrules.kernelrule import KEY_SEPARATOR, FilterList
from hardcost.auditrules.prove.eventwords import difference_words, remark
from hardcost.auditrules.prove.logic import OUT_OF_TIME
from hardcost.auditrules.prove.prove import prove as proof_of
from hardcost.auditrules.prove.relation import ProverError, Relation, Result
from hardcost.auditrules.semantics import Decision
from hardcost.cli import arguments
from hardcost.cli.monitors import work_progress
from hardcost.cli.rules import common
from hardcost.errors import InputError, Problem
from hardcost.report.text import visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.prove.relation import Difference
    from hardcost.auditrules.semantics import Outcome
    from hardcost.auditrules.tables.lookup import Release

_NO, _UNKNOWN = 1, 3
_INDENT = "  "
_MOST_SHOWN = 20  # paths


@dataclass(frozen=True)
class _Pair:
    """The two sets."""

    read_a: common.Rules
    read_b: common.Rules

    @property
    def a(self) -> tuple[KernelRule, ...]:
        """The rules of A as the kernel would hold them."""
        return self.read_a.loaded

    @property
    def b(self) -> tuple[KernelRule, ...]:
        """The rules of B as the kernel would hold them."""
        return self.read_b.loaded

    @property
    def either_way(self) -> tuple[str, ...]:
        """The watched paths for which the answer holds whichever kind they are."""
        return tuple(sorted({*self.read_a.unknown, *self.read_b.unknown}))


@common.for_machine
def prove(  # noqa: PLR0913  (a verb's options)
    a: str,
    b: str,
    *,
    ignore_keys: bool,
    no_b32: bool,
    at_least: bool,
    ignore_raised: bool,
    seconds: float,
    release: Release,
    machine: common.Machine,
    leave_out_faulty: bool,
    format: str,  # noqa: A002
) -> None:
    """Prove that the audit rules A and B treat every event alike, or show one that they do not."""
    relation = Relation(ignore_keys, no_b32, at_least, ignore_raised)
    machine = replace(machine, release=release)
    arguments.check_once((a, b))
    pair = _read(a, b, machine, leave_out_faulty=leave_out_faulty)
    try:
        with work_progress() as tell:
            tell("comparing the two sets")
            result = proof_of(pair.a, pair.b, relation, seconds, release)
    except ProverError as error:
        found = "the prover found a difference that the model of the kernel does not confirm"
        result = Result(None, relation, reason=f"{found}, which is a bug in hardcost: {error}")
    if format == "json":
        print(json.dumps(_as_json(result, pair), indent=2))
    else:
        for line in _as_text(result, pair):
            click.echo(visible(line))
    if result.equal is not True:
        raise click.exceptions.Exit(_UNKNOWN if result.equal is None else _NO)


# Reading ----------------------------------------------------------------------------------------


def _read(a: str, b: str, machine: common.Machine, *, leave_out_faulty: bool) -> _Pair:
    """Return both sets.

    Raises:
        InputError: A rule can't be read or loaded; the problems of both sets are reported at once.
    """
    found: list[common.Rules] = []
    problems: list[Problem] = []
    for text in (a, b):
        try:
            found.append(common.read([text], machine, leave_out_faulty=leave_out_faulty))
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError.of(tuple(problems))
    return _Pair(found[0], found[1])


# Showing ----------------------------------------------------------------------------------------


def _as_text(result: Result, pair: _Pair) -> list[str]:
    said = [_verdict(result)]
    if result.difference is not None:
        said += ["", _INDENT + difference_words(result.difference)]
        chosen = remark(result.difference)
        said += [*([] if chosen is None else [f"{_INDENT}({chosen})"]), ""]
        outcomes = (result.difference.outcome_a, result.difference.outcome_b)
        for name, rules, at in zip("AB", (pair.a, pair.b), (0, 1), strict=True):
            done = _outcome(outcomes[at], rules, result.difference.list, outcomes[1 - at])
            said.append(f"{_INDENT}{name} {done}")
        said += ["", "The model of the kernel's filter confirms this event."]
    if pair.either_way and result.equal:
        shown = ", ".join(pair.either_way[:_MOST_SHOWN])
        more = len(pair.either_way) - _MOST_SHOWN
        shown += f" and {more} more" if more > 0 else ""
        said += ["", f"This holds whether or not these are directories: {shown}"]
    if not result.relation.ignore_raised:
        said += [
            "",
            "Records that another part of the kernel requests (such as an LSM denial) count too.",
        ]
    said += ["", "This holds if:"]
    said += [f"- {text}" for text in _rests_on(result, pair)]
    return [*said, "", f"The answer is {common.ARCHITECTURE}."]


def _verdict(result: Result) -> str:
    if result.equal is None:
        reason = result.reason
        if reason == OUT_OF_TIME:
            reason = "the proof ran out of processor time; --seconds gives it more"
        return f"It is unknown whether A and B are {_wanted(result)}: {reason}."
    if not result.equal:
        calls = result.difference is not None and result.difference.list == "exit"
        what = "A call" if calls else "An event"
        return f"A and B are not {_wanted(result)}. {what} that shows the difference:"
    solved = f"{result.solved} of them by z3" if result.solved else "all of them by comparing text"
    return f"A and B are {_wanted(result)}: proved for {result.classes} classes of calls, {solved}."


def _wanted(result: Result) -> str:
    if result.relation.at_least:
        return "such that B records at least what A records"
    return "equivalent"


def _lists(outcome: Outcome, other: Outcome) -> str:
    """Return what the record lists, if the other set's record lists something else."""
    said = ""
    if outcome.recorded and other.recorded and outcome.names != other.names:
        listed = len(outcome.names)
        said += f", with {count(listed, 'file') if listed else 'no file'} in it"
    if outcome.recorded and other.recorded and outcome.receivers != other.receivers:
        said += f", {'with' if outcome.receivers else 'without'} the signal's receivers"
    return said


def _outcome(
    outcome: Outcome, rules: Sequence[KernelRule], which: FilterList, other: Outcome
) -> str:
    done = f"{_done(outcome, which)}{_lists(outcome, other)}"
    if outcome.decided_by is None:
        return f"{done}: no rule decides"
    source = rules[outcome.decided_by].source
    if source is None:
        return done
    return f"{done}: {source.place}: {source.text}"


def _done(outcome: Outcome, which: FilterList) -> str:
    if which is FilterList.TASK:
        return {
            Decision.ALWAYS: "records all of the task's calls",
            Decision.NEVER: "records none of the task's calls",
            Decision.NONE: "leaves the task's calls to the other lists",
        }[outcome.decision]
    if which in {FilterList.EXCLUDE, FilterList.USER}:
        return "writes the record" if outcome.recorded else "drops the record"
    if not outcome.recorded:
        dropped = "requests a record, and its list exclude drops it"
        return dropped if outcome.requested else "does not record it"
    key = outcome.key.replace(KEY_SEPARATOR, ", ")
    return f"records it, key {key}" if key else "records it, without a key"


def _rests_on(result: Result, pair: _Pair) -> list[str]:
    """Return all assumptions of the answer."""
    left_out = [*pair.read_a.left_out_said("of A, "), *pair.read_b.left_out_said("of B, ")]
    return [*(assumption.text for assumption in result.assumptions), *left_out]


def _as_json(result: Result, pair: _Pair) -> dict[str, Any]:
    difference = result.difference
    return {
        **common.ARCHITECTURE_DATA,
        "equal": result.equal,
        "relation": asdict(result.relation),
        "assumptions": _rests_on(result, pair),
        "either_kind": list(pair.either_way),
        "left_out": {"a": pair.read_a.left_out_data(), "b": pair.read_b.left_out_data()},
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
        "directories": list(difference.directories),
        "no_directories": list(difference.no_directories),
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
