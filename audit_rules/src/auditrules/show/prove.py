"""Whether two sets of audit rules are equivalent: as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from auditrules.kernel.semantics import FilterDecision, Outcome
from auditrules.load.loaded_set import LoadedSet, shorten_list
from auditrules.model.kernel_rule import KEY_SEPARATOR, FilterList, KernelRule
from auditrules.prove.event_text import difference_words, remark
from auditrules.prove.relation import Difference, Result
from auditrules.prove.result import Proved
from auditrules.prove.solver import OUT_OF_TIME
from auditrules.show.parts import (
    ARCHITECTURE,
    ARCHITECTURES,
    CheckedArchitectures,
    LeftOutLine,
    RuleAt,
    RulesDocument,
    left_out_lines,
)
from auditrules.words import count

_INDENT = "  "

# As JSON ------------------------------------------------------------------------------------------


class SetOutcome(RulesDocument):
    """The outcome of an event under one set, and the rule that decides."""

    decision: str
    recorded: bool
    key: str | None
    rule: str | None
    file: str | None
    line: int | None


class SetDifference(RulesDocument):
    """An event that two sets treat differently."""

    list: str
    event: str
    resolved: dict[str, int]
    directories: tuple[str, ...]
    no_directories: tuple[str, ...]
    a: SetOutcome
    b: SetOutcome


class LeftOutOfBoth(RulesDocument):
    """The lines that were left out of each set."""

    a: tuple[LeftOutLine, ...]
    b: tuple[LeftOutLine, ...]


class ProofDocument(RulesDocument):
    """The result of `hardcost rules prove`; `equal` is null where no answer was found in time."""

    architecture: CheckedArchitectures
    equal: bool | None
    relation: dict[str, bool]
    assumptions: tuple[str, ...]
    either_kind: tuple[str, ...]
    left_out: LeftOutOfBoth
    classes: int
    solved: int
    reason: str | None
    difference: SetDifference | None


def document(found: Proved) -> ProofDocument:
    """Return the result for JSON."""
    result = found.result
    return ProofDocument(
        architecture=ARCHITECTURES,
        equal=result.equal,
        relation=asdict(result.relation),
        assumptions=tuple(_assumptions(found)),
        either_kind=found.either_way,
        left_out=LeftOutOfBoth(a=left_out_lines(found.a), b=left_out_lines(found.b)),
        classes=result.classes,
        solved=result.solved,
        reason=result.reason or None,
        difference=result.difference and _difference(result.difference, found),
    )


def _difference(difference: Difference, found: Proved) -> SetDifference:
    return SetDifference(
        list=difference.list.value,
        event=difference_words(difference),
        resolved=dict(difference.resolved),
        directories=tuple(difference.directories),
        no_directories=tuple(difference.no_directories),
        a=_set_outcome(difference.outcome_a, found.a),
        b=_set_outcome(difference.outcome_b, found.b),
    )


def _set_outcome(outcome: Outcome, rules: LoadedSet) -> SetOutcome:
    decided = outcome.decided_by
    return SetOutcome(
        decision=outcome.decision.value,
        recorded=outcome.recorded,
        key=outcome.key or None,
        **dict(RuleAt.of(None if decided is None else rules.loaded[decided])),
    )


# As text ------------------------------------------------------------------------------------------


def text(found: Proved) -> list[str]:
    """Return the answer line by line, with an event that shows a difference."""
    result = found.result
    said = [_verdict(result)]
    if result.difference is not None:
        said += ["", _INDENT + difference_words(result.difference)]
        chosen = remark(result.difference)
        said += [*([] if chosen is None else [f"{_INDENT}({chosen})"]), ""]
        outcomes = (result.difference.outcome_a, result.difference.outcome_b)
        for name, rules, at in zip("AB", (found.a.loaded, found.b.loaded), (0, 1), strict=True):
            done = _outcome(outcomes[at], rules, result.difference.list, outcomes[1 - at])
            said.append(f"{_INDENT}{name} {done}")
        said += ["", "The model of the kernel's filter confirms this event."]
    if found.either_way and result.equal:
        shown = shorten_list(found.either_way)
        said += ["", f"This holds whether or not these are directories: {shown}"]
    if not result.relation.ignore_raised:
        said += [
            "",
            "Records that another part of the kernel requests (such as an LSM denial) count too.",
        ]
    said += ["", "This holds if:"]
    said += [f"- {text}" for text in _assumptions(found)]
    return [*said, "", f"The answer is {ARCHITECTURE}."]


def _verdict(result: Result) -> str:
    if result.equal is None:
        reason = result.reason
        if reason == OUT_OF_TIME:
            reason = "the proof ran out of processor time; --seconds gives it more"
        return f"It is unknown whether A and B are {_relation_words(result)}: {reason}."
    if not result.equal:
        calls = result.difference is not None and result.difference.list == "exit"
        what = "A call" if calls else "An event"
        return f"A and B are not {_relation_words(result)}. {what} that shows the difference:"
    solved = f"{result.solved} of them by z3" if result.solved else "all of them by comparing text"
    proved = f"proved for {result.classes} classes of calls, {solved}"
    return f"A and B are {_relation_words(result)}: {proved}."


def _relation_words(result: Result) -> str:
    if result.relation.at_least:
        return "such that B records at least what A records"
    return "equivalent"


def _record_remark(outcome: Outcome, other: Outcome) -> str:
    """Return the list in the record, if the other set's record has another."""
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
    done = f"{_effect(outcome, which)}{_record_remark(outcome, other)}"
    if outcome.decided_by is None:
        return f"{done}: no rule decides"
    source = rules[outcome.decided_by].source
    if source is None:
        return done
    return f"{done}: {source.place}: {source.text}"


def _effect(outcome: Outcome, which: FilterList) -> str:
    if which is FilterList.TASK:
        return {
            FilterDecision.ALWAYS: "records all of the task's calls",
            FilterDecision.NEVER: "records none of the task's calls",
            FilterDecision.NONE: "leaves the task's calls to the other lists",
        }[outcome.decision]
    if which in {FilterList.EXCLUDE, FilterList.USER}:
        return "writes the record" if outcome.recorded else "drops the record"
    if not outcome.recorded:
        dropped = "requests a record, and its list exclude drops it"
        return dropped if outcome.requested else "does not record it"
    key = outcome.key.replace(KEY_SEPARATOR, ", ")
    return f"records it, key {key}" if key else "records it, without a key"


def _assumptions(found: Proved) -> list[str]:
    """Return all assumptions of the answer."""
    left_out = [*found.a.left_out_assumptions("of A, "), *found.b.left_out_assumptions("of B, ")]
    return [*(assumption.text for assumption in found.result.assumptions), *left_out]
