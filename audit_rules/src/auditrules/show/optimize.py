"""A cheaper set of audit rules that records the same: as text and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field
from rich.table import Table

from auditrules.cost.events import operations
from auditrules.cost.predict import Histogram
from auditrules.load.loaded_set import LoadedSet
from auditrules.optimize import never, output, reasons
from auditrules.optimize.lines import Candidate
from auditrules.optimize.optimize import Optimised
from auditrules.optimize.result import Cheaper
from auditrules.prove.assumptions import under_releases
from auditrules.show.parts import (
    ARCHITECTURE,
    ARCHITECTURES,
    Amount,
    CheckedArchitectures,
    LeftOutLine,
    RulesDocument,
    left_out_lines,
)
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch
from auditrules.words import count, join_in_prose

_MOST_NAMED = 6
_WORTH_SAYING = 0.5  # instructions

# As JSON ------------------------------------------------------------------------------------------


class BeforeAfter(RulesDocument):
    """A number of the set that was read and of the one that was written."""

    before: Amount
    after: Amount


class OptimizedCall(BeforeAfter):
    """The cost of the rules for a call, in instructions, before and after."""

    arch: str
    call: str
    before: Amount
    after: Amount


class ProofSummary(RulesDocument):
    """The proof about the new set."""

    equal: bool | None
    classes: int
    assumptions: tuple[str, ...]


class OptimizedLine(RulesDocument):
    """A rule of the new set: where it comes from, what was done, what it saves and why."""

    rule: str
    origins: tuple[str, ...] = Field(alias="from")
    done: tuple[str, ...]
    saves: Amount | None
    why: str | None


class OptimizeDocument(RulesDocument):
    """The result of `hardcost rules optimize`."""

    architecture: CheckedArchitectures
    out: str
    rules: BeforeAfter
    walked: BeforeAfter
    unit: Literal["insn/call"]
    calls: tuple[OptimizedCall, ...]
    mean: BeforeAfter
    dearer: tuple[str, ...]
    dearer_failing: Amount
    done: dict[str, int]
    proof: ProofSummary
    kept_because: str | None
    gives_up: str | None
    lines: tuple[OptimizedLine, ...]
    left_out: tuple[LeftOutLine, ...]
    either_kind: tuple[str, ...]
    proved_for_linux: tuple[str, ...]
    thorough_saves_more: Amount


def document(found: Cheaper, out: str) -> OptimizeDocument:
    """Return the result for JSON; `out` is the file that is written, or -."""
    made, rules = found.made, found.rules
    gives_up = any(never.NEVER_FIRST in line.done for line in made.lines)
    return OptimizeDocument(
        architecture=ARCHITECTURES,
        out=out,
        rules=BeforeAfter(before=len(made.original), after=len(made.rules)),
        walked=BeforeAfter(before=made.walked[0], after=made.walked[1]),
        unit="insn/call",
        calls=tuple(
            OptimizedCall(
                arch=call[0],
                call=lookup.call_name(*call),
                before=made.before[call],
                after=after,
            )
            for call, after in made.after.items()
        ),
        mean=BeforeAfter(before=made.mean.before, after=made.mean.after),
        dearer=tuple(map(_name, made.dearer)),
        dearer_failing=made.dearer_failing,
        done=dict(Counter(what for line in made.lines for what in line.done)),
        proof=ProofSummary(
            equal=made.proof.equal,
            classes=made.proof.classes,
            assumptions=tuple(one.text for one in made.proof.assumptions),
        ),
        kept_because=made.kept_because or None,
        gives_up=never.GIVES_UP if gives_up else None,
        lines=tuple(_line(made, line) for line in made.lines),
        left_out=left_out_lines(rules),
        either_kind=tuple(rules.unknown),
        proved_for_linux=found.proved,
        thorough_saves_more=found.thorough_saves_more,
    )


def _line(made: Optimised, line: Candidate) -> OptimizedLine:
    rules = (made.original[at] for at in line.origins)
    return OptimizedLine(
        rule=output.rule_text(replace(line.rule, source=None)),
        origins=tuple(str(rule.source.place) for rule in rules if rule.source),
        done=tuple(line.done),
        saves=line.saves,
        why=reasons.why(line) or None,
    )


# As text ------------------------------------------------------------------------------------------


def text(found: Cheaper, out: str) -> list[str]:
    """Return the lines below the table; `out` is the file that is written, or -."""
    made, rules = found.made, found.rules
    return [
        "",
        _rule_counts(len(made.original), len(made.rules), *made.walked),
        *_dearer_calls(made, out),
        *_changes(made),
        *_thorough_savings(found.thorough_saves_more),
        "",
        *_proof(found, rules.left_out_assumptions()),
        *_price_of_never(made),
        *_unchanged_watches(rules),
        *([] if out == "-" else ["", f"written: {out}"]),
    ]


def _rule_counts(many: int, now: int, before: int, after: int) -> str:
    """Return how many rules there are, and against how many of them a call is checked."""
    still = "is" if now == 1 else "are"
    rules = f"There {still} still {count(now, 'rule')}"
    if many != now:
        rules = f"{count(many, 'rule')} became {now}"
    walked = f" instead of {before}" if before != after else ", as before"
    return f"{rules}; each system call is checked against {after} of them{walked}."


def notes(*, assumed: bool) -> Iterator[str]:
    """Yield notes on the numbers; `assumed`: the mix is not the user's."""
    yield "predicted from constants of Debian's kernel; instructions are not time"
    yield ARCHITECTURE
    if assumed:
        yield (
            "the mean call is that of an assumed workload (column `of 1000 calls`); --histogram"
            " takes your own"
        )


def loading_remarks(found: Cheaper) -> Iterator[str]:
    """Yield whether the rules load on the machine, as far as its file system is known."""
    if found.root is None:
        return
    for one in found.refused:
        source = one.rule.source
        place = f"{source.place}: " if source is not None else ""
        yield f"{place}the kernel of that machine refuses the rule: {one.refused} does not exist"
    if not found.refused:
        yield f"all paths that the rules need exist below {found.root.folder}"


def table(made: Optimised, mix: Histogram) -> Table:
    """Return the costs of calls before and after."""
    shown = Table(
        title="predicted instructions per call, without the price of having any rule",
        title_justify="left",
    )
    shown.add_column("call")
    for name in ("of 1000 calls", "before", "after"):
        shown.add_column(name, justify="right")
    total = sum(mix.values()) or 1.0
    for call in _typical_calls():
        share = 1000 * mix.get(call, 0.0) / total
        costs = f"{made.before[call]:,.0f}", f"{made.after[call]:,.0f}"
        shown.add_row(_name(call), f"{share:.1f}", *costs)
    shown.add_section()
    shown.add_row("mean call", "1000", f"{made.mean.before:,.0f}", f"{made.mean.after:,.0f}")
    return shown


def _typical_calls() -> tuple[tuple[Arch, int], ...]:
    """Return the calls that the operations of the workload `syscalls` make."""
    names = dict.fromkeys(name for calls in operations().values() for name in calls)
    return tuple(("b64", lookup.calls("b64")[name]) for name in names)


def _name(call: tuple[Arch, int]) -> str:
    arch, number = call
    name = lookup.call_name(arch, number)
    return name if arch == "b64" else f"{name} ({arch})"


def _dearer_calls(made: Optimised, out: str) -> list[str]:
    count = len(made.before)
    abis = "both ABIs" if made.options.b32 else "b64"
    if made.kept_because:
        return [f"Nothing was changed: {made.kept_because}."]
    if not made.saves:
        where = "what is written" if out == "-" else out
        kept = " that keeps each line" if made.options.keep_lines else ""
        return [f"No cheaper set{kept} was found: {where} has the same rules."]
    if not made.dearer:
        said = [f"No call costs more than before: {count} typical calls of {abis} were compared."]
    else:
        most = max(made.after[call] - made.before[call] for call in made.dearer)
        names = ", ".join(_name(call) for call in made.dearer[:_MOST_NAMED])
        more = " …" if len(made.dearer) > _MOST_NAMED else ""
        said = [
            (
                f"{len(made.dearer)} calls of {count} cost up to {most:,.0f} more, since they pass"
                f" the `never` rule: {names}{more}. No other call costs more."
            )
        ]
    if made.dearer_failing:
        said.append(
            f"A call that fails with an error inside or outside a merged range may cost up to"
            f" {made.dearer_failing:,.0f} more."
        )
    return said


def _changes(made: Optimised) -> list[str]:
    """Return the changes, the one first that saves most."""
    changed = sorted((line for line in made.lines if line.done), key=lambda line: -line.saves)
    if not changed and not made.dropped:
        return []
    said = ["", "Changes, and the instructions that each saves the mean call (predicted):"]
    for line in changed:
        of = output.places([made.original[at] for at in line.origins])
        said.append(
            f"- {line.saves:,.1f}  {f'{of}: ' if line.origins else ''}{'; '.join(line.done)}"
        )
    if made.dropped:
        of = output.places([made.original[at] for at in made.dropped])
        said.append(f"- {made.dropped_saves:,.1f}  {of}: dropped, since {reasons.DROPPED}")
    return said


def _thorough_savings(more: float) -> list[str]:
    if more < _WORTH_SAYING:
        return []
    return [
        (
            f"--thorough saves the mean call about {more:,.0f} more (predicted), with lines that"
            " are harder to recognise."
        )
    ]


def _proof(found: Cheaper, left_out: Sequence[str]) -> list[str]:
    proof, proved = found.made.proof, found.proved
    if not proof.equal:
        failed = "The rules could not be proved equal to themselves"
        return [f"{failed}, which is a bug in {found.program}."]
    return [
        (
            f"Proved for all events, in {proof.classes} classes of calls, for Linux"
            f" {join_in_prose(proved)}: the same is recorded, under the same key, if:"
        ),
        *(f"- {assumption}" for assumption in under_releases(proof.assumptions, proved)),
        *(f"- {text}" for text in left_out),
    ]


def _unchanged_watches(rules: LoadedSet) -> list[str]:
    """Say which watches stay unchanged, and which option would change that."""
    unknown = rules.unknown
    if not unknown:
        return []
    trees = [path for path in unknown if rules.likely(path)]
    shown = ", ".join(unknown[:_MOST_NAMED]) + (" …" if len(unknown) > _MOST_NAMED else "")
    return [
        "",
        (
            f"{count(len(unknown), 'watched path')} may or may not be a directory, and the new set"
            f" records the same in both cases: {shown}. Their watches are unchanged."
        ),
        (
            f"Judging by name, {count(len(trees), 'is a directory', 'are directories')}, which"
            " costs every call: on the machine itself, --root / makes that cheaper."
            if trees
            else "Judging by name, all are files, which cost other calls nothing."
        ),
    ]


def _price_of_never(made: Optimised) -> list[str]:
    if not made.options.never_first:
        return []
    if not any(never.NEVER_FIRST in line.done for line in made.lines):
        return ["", "A `never` rule at the front would save nothing here, so there is none."]
    return ["", f"What the `never` rule gives up: {never.GIVES_UP}"]
