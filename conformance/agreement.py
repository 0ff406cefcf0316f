"""What the semantics say of each case of a battery, beside what the kernel did.

A case is one call under one rule set. A disagreement is a value that prints whole: rules, event,
what was expected and what came.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from auditrules.auditctl.translate import Target
from auditrules.kernel.event import Event
from auditrules.kernel.records import OBJ_PID, SYSCALL, goes_with_syscall, type_name
from auditrules.kernel.semantics import FilterDecision, Loaded, Outcome, Verdict, decide, load
from auditrules.load.load import load_lines
from auditrules.model.kernel_rule import KEY_SEPARATOR, FieldTest, FilterList, KernelRule
from auditrules.model.location import Location
from auditrules.read.parse import read_line
from auditrules.tables import lookup
from conformance.battery import Battery, SetResult, WantedRules
from conformance.calls import Call
from conformance.files_and_workers import DIRECTORIES, LINKED, THROUGH_LINKS

_TREES = frozenset(path.rstrip("/") for path in (*DIRECTORIES, *LINKED, *THROUGH_LINKS[:2]))

GUEST = Target(is_directory=lambda path: path.rstrip("/") in _TREES)
"""What is known of the guest for which rules are translated."""


@dataclass(frozen=True)
class Disagreement:
    """A case of which the semantics say other than the kernel did; None is `not recorded`."""

    rules: str
    call: Call
    event: Event
    expected: str | None
    got: str | None
    walked: str

    def __str__(self) -> str:
        """Return all of it, for a reader."""
        return "\n".join((
            f"{self.call}: expected {_shown(self.expected)}, got {_shown(self.got)}",
            f"  {self.event}",
            self.walked,
            "  under the rules",
            *(f"  {number:4} {line}" for number, line in enumerate(self.rules.splitlines(), 1)),
        ))  # fmt: skip


@dataclass(frozen=True)
class Refusal:
    """Lines that only one of the two refuses: we, or auditctl and the kernel."""

    rules: str
    ours: tuple[str, ...]
    theirs: tuple[str, ...]
    complaints: str

    def __str__(self) -> str:
        """Return all of it, for a reader."""
        return (
            f"refused by us alone: {self.ours}\nby them alone: {self.theirs}\n"
            f"  they said: {self.complaints}"
        )


@dataclass(frozen=True)
class Agreement:
    """The result of comparing: how many cases of each kind, and where the two differ.

    `counts` has `cases`, and of them what was exercised: `recorded`, `never`, `bucket`, …
    """

    counts: Counter[str]
    disagreements: tuple[Disagreement | Refusal, ...]

    def __add__(self, other: Agreement) -> Agreement:
        """Return both together."""
        return Agreement(self.counts + other.counts, self.disagreements + other.disagreements)


def compare(battery: Battery, sets: Sequence[WantedRules], calls: Sequence[Call]) -> Agreement:
    """Compare all cases of a battery."""
    counts: Counter[str] = Counter()
    found: list[Disagreement | Refusal] = []
    for wanted, result in zip(sets, battery.sets, strict=True):
        loaded, refused = loaded_set(wanted.rules, battery)
        counts["sets"] += 1
        counts["rules"] += len(loaded.rules)
        counts["rules deleted"] += _deleted(wanted.rules, refused)
        counts["lines refused"] += len(refused)
        if refused != result.refused:
            found.append(_refusal(wanted.rules, refused, result))
            continue
        if result.loaded != len(loaded.rules):
            found.append(_refusal(wanted.rules, refused, result))
        for index in result.made:
            if index in result.unsteady:
                counts["unsteady"] += 1
                continue
            outcome = decide(loaded, battery.events[index])
            counts.update(_exercised(loaded, battery.events[index], outcome))
            expected = outcome.key if outcome.recorded else None
            got = result.recorded.get(index)
            if expected != got:
                walked = "\n".join(_steps(loaded, outcome))
                about = (calls[index], battery.events[index], expected, got, walked)
                found.append(Disagreement(wanted.rules, *about))
            elif got is not None and index in result.kinds:
                named, came = _written(outcome), _of_the_call(result.kinds[index])
                counts["events compared by record"] += 1
                counts["records dropped"] += sum(
                    record.dropped_by is not None for record in outcome.records
                )
                if named != came:
                    about = (calls[index], battery.events[index], _names(named), _names(came), "")
                    found.append(Disagreement(wanted.rules, *about))
    return Agreement(counts, tuple(found))


_UNTOLD = frozenset(lookup.records()[name] for name in ("BPRM_FCAPS", "IPC", "IPC_SET_PERM"))
"""What no event shows (`records.kinds`)."""


def _written(outcome: Outcome) -> list[int]:
    """Return the types of the records that are written, receivers of one signal once."""
    return _once([record.kind for record in outcome.records if record.dropped_by is None])


def _of_the_call(kinds: Sequence[int]) -> list[int]:
    """Return the types of a call's own records, without those of other parts of the kernel."""
    own = (kind for kind in kinds if kind == SYSCALL or goes_with_syscall(kind))
    return _once([kind for kind in own if kind not in _UNTOLD])


def _once(kinds: Sequence[int]) -> list[int]:
    return [kind for at, kind in enumerate(kinds) if kind != OBJ_PID or kind not in kinds[:at]]


def _names(kinds: Sequence[int]) -> str:
    return " ".join(map(type_name, kinds))


def loaded_set(rules: str, battery: Battery) -> tuple[Loaded, frozenset[int]]:
    """Return the rules of a text as the guest's kernel holds them, and which lines are refused."""
    readings = [
        read_line(line, Location("set", number))
        for number, line in enumerate(rules.splitlines(), 1)
    ]
    target = replace(GUEST, release=battery.release, auditctl=battery.auditctl)
    found = load_lines([readings], target, lambda rule: _lacks(rule, battery))
    refused = frozenset(one.reading.place.line or 0 for one in found.failing)
    return load(found.rules, battery.files), refused


def _deleted(rules: str, refused: frozenset[int]) -> int:
    """Return how many lines delete a rule that is there."""
    numbered = enumerate(rules.splitlines(), 1)
    return sum(line[:2] in {"-d", "-W"} and number not in refused for number, line in numbered)


def _lacks(rule: KernelRule, battery: Battery) -> str | None:
    """Return why the guest refuses a rule: it lacks the directory in which the rule watches."""
    if rule.directory is not None:
        folder = rule.directory.rstrip("/") or "/"
    elif rule.path is not None:
        folder = posixpath.dirname(rule.path)
    else:
        return None
    return None if folder in battery.files else f"there is no directory {folder}"


def _refusal(rules: str, refused: frozenset[int], result: SetResult) -> Refusal:
    lines = rules.splitlines()

    def texts(numbers: frozenset[int]) -> tuple[str, ...]:
        return tuple(lines[number - 1] for number in sorted(numbers) if number <= len(lines))

    return Refusal(
        rules,
        texts(refused - result.refused),
        texts(result.refused - refused),
        f"{result.complaints} (loaded: {result.loaded})",
    )


def _exercised(loaded: Loaded, event: Event, outcome: Outcome) -> Iterator[str]:
    """Yield what a case exercises, so that it can be seen what a battery is worth."""
    facts = {
        "recorded": outcome.recorded,
        "decided by never": outcome.decision is FilterDecision.NEVER,
        "raised elsewhere": event.raised,
        "raised and suppressed": event.raised and not outcome.recorded,
        "dropped whole": outcome.requested and not outcome.recorded,
        "dropped in part": outcome.recorded
        and any(record.dropped_by is not None for record in outcome.records),
        "with a file system rule": bool(loaded.lists[FilterList.FILESYSTEM]),
        "with an outranked rule": any(it.verdict is Verdict.OUTRANKED for it in outcome.walked),
    }
    yield "cases"
    yield f"arch {event.arch}"
    yield from (fact for fact, holds in facts.items() if holds)
    if outcome.decided_by is not None:
        yield from _of_decision(loaded.rules[outcome.decided_by], outcome)


def _of_decision(rule: KernelRule, outcome: Outcome) -> Iterator[str]:
    """Yield how it was decided, by this rule."""
    matched = [step for step in outcome.walked if step.verdict is Verdict.MATCHED]
    facts = {
        "decided in a bucket": matched[-1].name is not None,
        "decided by a later name": bool(matched[-1].name),
        "bucket over list": len(matched) > 1,
        "key inherited": outcome.recorded and not rule.key and outcome.key != "",
        "decided by a prepended rule": rule.prepend,
        "decided with several keys": KEY_SEPARATOR in rule.key,
    }
    yield "decided"
    yield from (fact for fact, holds in facts.items() if holds)
    yield from _of_rule(rule)


def _of_rule(rule: KernelRule) -> Iterator[str]:
    """Yield what the deciding rule tests."""
    fields = {
        f"{test.field}{test.operator}" if test.field in {"inode", "exe", "arch"} else test.field
        for test in rule.conditions
        if isinstance(test, FieldTest)
    }
    for field in fields:
        yield f"decided with {field}"
    if not any(field.startswith("arch") for field in fields):
        yield "decided without arch"
    if len(fields) < len(rule.conditions):
        yield "decided with -C"


def _steps(loaded: Loaded, outcome: Outcome) -> Iterator[str]:
    """Yield what was walked, a line each, but for rules that do not name the call."""
    for step in outcome.walked:
        if step.verdict is not Verdict.NOT_NAMED:
            source = loaded.rules[step.rule].source
            where = "" if step.name is None else f" for name {step.name}"
            text = source.text if source else ""
            yield f"    {step.verdict.name} after {step.tested} conditions{where}: {text}"


def _shown(key: str | None) -> str:
    return "no record" if key is None else f"a record with key {key!r}"
