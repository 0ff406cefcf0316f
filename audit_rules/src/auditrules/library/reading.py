"""Audit rules as a call names them: read and loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from auditrules.library.arguments import parts
from auditrules.library.caller import Caller
from auditrules.load.load import AddedLine, Fate, load_lines
from auditrules.load.loaded_set import LoadedSet, shorten_list
from auditrules.load.target import NOWHERE, RuleTarget
from auditrules.model.errors import InputError, Problem, RequestProblem
from auditrules.model.fault import Fault, RulesError
from auditrules.model.rule import Reading
from auditrules.read import parse
from auditrules.words import count

_AUDIT_OFF = "`-e 0`"
_MOST_LISTED = 20


@dataclass(frozen=True)
class RulesRequest:
    """Rules, by texts that name them, and the machine that they are for.

    Faulty lines are left out if a line above them has auditctl continue (-i, -c), or if
    `leave_out_faulty`.
    """

    texts: tuple[str, ...]
    _: KW_ONLY
    target: RuleTarget = NOWHERE
    leave_out_faulty: bool = False


def read(request: RulesRequest, caller: Caller) -> LoadedSet:
    """Return the rules that a request names; the caller hears which lines are left out.

    A repeated rule is always left out, since that changes no record.

    Raises:
        InputError: A file can't be read, or lines can't be loaded; all are reported at once.
    """
    with caller.work() as tell:
        tell("reading the rules")
        each = parts(request.texts, caller)
        lines = tuple(readings for readings, _ in each)
        unreadable = [fault for _, faults in each for fault in faults]
        tell("loading the rules")
        found = load_lines(lines, request.target.target)
    rules = LoadedSet(lines, found, request.target)
    fatal = (
        ()
        if request.leave_out_faulty
        else tuple(one for one in rules.left_out if not one.tolerated)
    )
    problems = [*RulesError(tuple(unreadable)).problems] if unreadable else []
    if fatal:
        problems += _problems(fatal, request.target)
    if problems:
        raise InputError.of(tuple(problems))
    _note_settings(rules.readings, caller)
    _note_left_out(rules, caller)
    return rules


def _problems(lines: Sequence[AddedLine], machine: RuleTarget) -> list[Problem]:
    """Return the problems of lines; those caused only by line ends are one problem."""
    by_end: dict[str, list[AddedLine]] = {}
    others: list[Fault] = []
    for one in lines:
        if parse.fails_by_its_end(one.reading, machine.target):
            by_end.setdefault(one.reading.place.file, []).append(one)
        elif one.fault is not None:
            others.append(one.fault)
    found = [*RulesError(tuple(others)).problems] if others else []
    for file, ended in by_end.items():
        first = ended[0].reading.place
        found.append(
            Problem(
                f"{count(len(ended), 'line')} of {file} can't be loaded because of the"
                " carriage return at the end, which auditctl reads as part of the last word",
                first.at(None),
                "save the file with Unix line ends",
            )
        )
    stops = next((one.reading.place for one in lines if one.fate is not Fate.ELSEWHERE), None)
    if stops is None:
        message, itself = "the other lines can be used without these", ""
    else:
        message = f"auditctl stops at {stops} and loads no line below it"
        itself = "; auditctl itself does so after -i"
    found.append(RequestProblem(message, hint=f"`leave_out_faulty` skips such lines{itself}"))
    return found


def _note_settings(readings: Sequence[Reading], caller: Caller) -> None:
    """Note a line that turns audit off, which no analysis of rules takes into account."""
    for reading in readings:
        for remark in reading.notes:
            if _AUDIT_OFF in remark:
                caller.note(
                    f"{reading.place}: it turns audit off; the results hold while audit is on"
                )
        if reading.cut_at is not None:
            caller.note(
                f"{reading.place}: auditctl ignores the rest of this line after the NUL byte"
            )


def _note_left_out(rules: LoadedSet, caller: Caller) -> None:
    """Note in one list which lines are left out."""
    left_out = rules.left_out
    if left_out:
        own = all(one.tolerated for one in left_out)
        why = ", and continues after them" if own else ""
        if any(one.fate is Fate.ELSEWHERE for one in left_out):
            why = f"{why}, or that are for another architecture"
        caller.note(f"left out: {count(len(left_out), 'line')} that auditctl refuses{why}:")
        for one in left_out[:_MOST_LISTED]:
            caller.note(f"  {one.fault}")
        if len(left_out) > _MOST_LISTED:
            caller.note(
                f"  … and {len(left_out) - _MOST_LISTED} more; `{caller.verbs} lint` lists them all"
            )
    twice = rules.found.of(Fate.TWICE)
    if twice:
        places = shorten_list([str(one.reading.place) for one in twice])
        repeat = "repeats" if len(twice) == 1 else "repeat"
        caller.note(f"left out: {count(len(twice), 'rule')} that {repeat} an earlier one: {places}")
    if twice and rules.found.stops_at in twice:
        caller.note(f"auditctl stops at {twice[0].reading.place} today, and loads no line below it")
