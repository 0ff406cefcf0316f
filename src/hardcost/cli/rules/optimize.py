"""`hardcost rules optimize`: a cheaper set of audit rules that records the same."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from hardcost import files
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.optimize import never, output, reasons
from hardcost.auditrules.optimize.optimise import Options, more_if_thorough, optimise
from hardcost.auditrules.optimize.releases import proofs
from hardcost.auditrules.optimize.savings import Clock, Savings
from hardcost.auditrules.preflight import missing_paths
from hardcost.auditrules.prove.assumptions import under_releases
from hardcost.auditrules.prove.eventwords import difference_words
from hardcost.auditrules.tables import lookup
from hardcost.auditrules.tables.lookup import RELEASES
from hardcost.cli import arguments
from hardcost.cli.console import note, show
from hardcost.cli.monitors import work_progress
from hardcost.cli.rules import common
from hardcost.errors import InputError
from hardcost.report.text import listed, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hardcost.auditrules.cost.predict import Histogram
    from hardcost.auditrules.optimize.optimise import Optimised
    from hardcost.auditrules.optimize.savings import Costs
    from hardcost.auditrules.tables.lookup import Arch, Release

_NO = 1
_INTERRUPTED = 130
_MOST_FAR = 6
_WORTH_SAYING = 0.5  # instructions


@common.for_machine
def optimize(  # noqa: PLR0913  (click's options)
    texts: tuple[str, ...],
    *,
    out: Path,
    force: bool,
    histogram_file: Path | None,
    no_b32: bool,
    allow_never_first: bool,
    keep_lines: bool,
    least_seconds: float,
    no_least: bool,
    thorough: bool,
    machine: common.Machine,
    leave_out_faulty: bool,
    format: str,  # noqa: A002
) -> None:
    """Make audit rules cheaper, and prove that they record the same."""
    _check_out(out, arguments.files_of(texts), force=force)
    rules = common.read(texts, machine, leave_out_faulty=leave_out_faulty)
    mix = common.histogram(histogram_file)
    constants = Constants.of_debian()
    chosen = Options(
        b32=not no_b32,
        never_first=allow_never_first,
        keep_lines=keep_lines,
        likely_directory=rules.likely,
        thorough=thorough,
    )
    with work_progress() as tell:
        made = optimise(rules.loaded, constants, mix, chosen, tell)
        tell("proving the result for other releases of Linux")
        proved = _proved_releases(made, rules)
        more = 0.0 if thorough else more_if_thorough(made, constants, mix, tell)
    left_out = rules.left_out_said()
    _write(out, output.text(made, rules.readings, machine.target, proved, left_out))
    report = _worked_out(made, mix, out, seconds=0.0 if no_least else least_seconds)
    to_stderr = str(out) == "-"
    if format == "json":
        data = {**common.ARCHITECTURE_DATA, **_as_json(report, out), **_as_read(rules)}
        data["proved_for_linux"] = list(proved)
        data["thorough_saves_more"] = more
        click.echo(json.dumps(data, indent=2), err=to_stderr)
    else:
        _show(report, rules, out, proved, more)
        _notes(assumed=histogram_file is None)
    _preflight(made, machine)
    if made.kept_because:
        raise click.exceptions.Exit(_NO)


def _proved_releases(made: Optimised, rules: common.Rules) -> tuple[Release, ...]:
    """Return the releases of Linux under which the new file records the same; note the others."""
    if _is_unchanged(made):
        return RELEASES
    content = output.text(made, rules.readings, rules.machine.target)
    found = proofs(content, rules.parts, rules.machine.target, made.options.relation)
    for release, result in found.items():
        if result.difference is not None:
            shown = difference_words(result.difference)
            note(
                f"under Linux {release} the new rules do not record the same; for example: {shown}"
            )
        elif not result.equal:
            said = "the new rules are not proved to record the same"
            note(f"under Linux {release} {said}: {result.reason}")
    return tuple(release for release, result in found.items() if result.equal)


def _is_unchanged(made: Optimised) -> bool:
    """Say whether the rules and their order are unchanged."""
    order = [line.origins for line in made.lines]
    changed = made.dropped or any(line.done for line in made.lines)
    return not changed and order == sorted(order) and not any(one.prepend for one in made.original)


def _write(out: Path, content: str) -> None:
    data = content.encode(errors="surrogateescape")
    if str(out) != "-":
        files.put(out, data)
        return
    stream = sys.stdout.buffer
    while data:  # a stream without a buffer may take only a part
        data = data[stream.write(data) or 0 :]
    stream.flush()


def _worked_out(made: Optimised, mix: Histogram, out: Path, *, seconds: float) -> Savings:
    """Return the report on a written set, with the least that any set can cost."""
    written = "the set on standard output" if str(out) == "-" else str(out)
    try:
        if seconds:
            note(
                f"{written} is complete; computing the least that any set can cost takes up to"
                f" {seconds:g} s of processor time"
            )
        with work_progress() as tell:

            def say(spent: float) -> None:
                tell(f"computing the least, at most {seconds - spent:.0f} s left")

            report = Savings(made, Constants.of_debian(), mix, Clock(seconds, say))
            report.work_out()
    except KeyboardInterrupt:
        note(f"interrupted: {written} is complete; only the report of costs and proof is missing")
        raise click.exceptions.Exit(_INTERRUPTED) from None
    return report


def _preflight(made: Optimised, machine: common.Machine) -> None:
    """Note whether the rules load on the machine, as far as its file system is known."""
    root = machine.paths.root
    if root is None:
        return
    refused = [one for one in missing_paths(made.rules, root) if one.refused is not None]
    for one in refused:
        source = one.rule.source
        place = f"{source.place}: " if source is not None else ""
        note(f"{place}the kernel of that machine refuses the rule: {one.refused} does not exist")
    if not refused:
        note(f"all paths that the rules need exist below {root.folder}")


def _check_out(out: Path, paths: Sequence[Path], *, force: bool) -> None:
    """Check that writing destroys nothing.

    Raises:
        InputError: The file is an input, or already exists.
    """
    if str(out) == "-":
        return
    real = out.resolve()
    inputs = [path.resolve() for path in paths]
    if real in inputs or any(path.is_dir() and real.parent == path for path in inputs):
        raise InputError(
            f"{out} is one of the input files, or in an input folder",
            hint="name another file, review it, and then put it in place",
        )
    files.check_new(out, force=force)
    files.check_put(out, "-o")


# Showing ----------------------------------------------------------------------------------------


def _show(
    report: Savings,
    rules: common.Rules,
    out: Path,
    proved: Sequence[Release],
    more: float,
) -> None:
    made = report.made
    before, after = report.walked
    to_stderr = str(out) == "-"
    show(_table(report), err=to_stderr)
    lines = [
        "",
        _became(len(made.original), len(made.rules), before, after),
        *_whether_dearer(report, out),
        *_changes(made),
        *_left_for_thorough(more),
        "",
        *_proof(report, proved, rules.left_out_said()),
        "",
        *_least(report),
        *_given_up(report),
        *_kept_watches(rules),
        *([] if to_stderr else [f"written: {out}"]),
    ]
    for line in lines:
        click.echo(visible(line), err=to_stderr)


def _became(many: int, now: int, before: int, after: int) -> str:
    """Return how many rules there are, and against how many of them a call is checked."""
    still = "is" if now == 1 else "are"
    rules = f"There {still} still {count(now, 'rule')}"
    if many != now:
        rules = f"{count(many, 'rule')} became {now}"
    walked = f" instead of {before}" if before != after else ", as before"
    return f"{rules}; each system call is checked against {after} of them{walked}."


def _notes(*, assumed: bool) -> None:
    note("predicted from constants of Debian's kernel; instructions are not time")
    note(common.ARCHITECTURE)
    if assumed:
        note(
            "the mean call is that of an assumed workload (column `of 1000 calls`); --histogram"
            " takes your own"
        )


def _table(report: Savings) -> Table:
    table = Table(
        title="predicted instructions per call, without the price of having any rule",
        title_justify="left",
    )
    table.add_column("call")
    least = ("least", "after/least") if report.clock.limit else ()
    for name in ("of 1000 calls", "before", "after", *least):
        table.add_column(name, justify="right")
    total = sum(report.histogram.values()) or 1.0
    for call in report.shown:
        share = 1000 * report.histogram.get(call, 0.0) / total
        cells = _cells(report.by_call[call])[: 2 + len(least)]
        table.add_row(_name(call), f"{share:.1f}", *cells)
    table.add_section()
    table.add_row("mean call", "1000", *_cells(report.mean)[: 2 + len(least)])
    return table


def _cells(one: Costs) -> list[str]:
    ratio = f"{one.after / one.least:.2f}" if one.least else "-"
    least = "-" if one.least is None else f"{one.least:,.0f}"
    return [f"{one.before:,.0f}", f"{one.after:,.0f}", least, ratio]


def _name(call: tuple[Arch, int]) -> str:
    arch, number = call
    name = lookup.call_name(arch, number)
    return name if arch == "b64" else f"{name} ({arch})"


def _whether_dearer(report: Savings, out: Path) -> list[str]:
    made = report.made
    count = len(made.before)
    abis = "both ABIs" if made.options.b32 else "b64"
    if made.kept_because:
        return [f"Nothing was changed: {made.kept_because}."]
    if not made.saves:
        where = "what is written" if str(out) == "-" else str(out)
        kept = " that keeps each line" if made.options.keep_lines else ""
        return [f"No cheaper set{kept} was found: {where} has the same rules."]
    if not made.dearer:
        said = [f"No call costs more than before: {count} typical calls of {abis} were compared."]
    else:
        most = max(made.after[call] - made.before[call] for call in made.dearer)
        names = ", ".join(_name(call) for call in made.dearer[:_MOST_FAR])
        more = " …" if len(made.dearer) > _MOST_FAR else ""
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


def _left_for_thorough(more: float) -> list[str]:
    if more < _WORTH_SAYING:
        return []
    return [
        (
            f"--thorough saves the mean call about {more:,.0f} more (predicted), with lines that"
            " are harder to recognise."
        )
    ]


def _proof(report: Savings, proved: Sequence[Release], left_out: Sequence[str]) -> list[str]:
    proof = report.made.proof
    if not proof.equal:
        return ["The rules could not be proved equal to themselves, which is a bug in hardcost."]
    return [
        (
            f"Proved for all events, in {proof.classes} classes of calls, for Linux"
            f" {listed(proved)}: the same is recorded, under the same key, if:"
        ),
        *(f"- {assumption}" for assumption in under_releases(proof.assumptions, proved)),
        *(f"- {text}" for text in left_out),
    ]


def _least(report: Savings) -> list[str]:
    clock, needed = report.clock, report.needed
    if not clock.limit:
        return ["The least was not computed."]
    said = []
    if needed is not None:
        said.append(
            f"The least: any set that records the same has at least {needed} rules that every call"
            f" walks. There are {needed} events of which no rule can match two without also"
            " matching an event that must not be recorded. (This covers sets that test a0 to a3"
            " as these do, make no call more expensive than now and, for each call, no more"
            " frequent call more expensive than the new set does.)"
        )
    if report.worked_out < len(report.by_call):
        said.append(
            f"The least was computed for {report.worked_out} of {len(report.by_call)} calls in"
            f" {clock.spent:.0f} s of processor time; --least-seconds gives it more."
        )
    if report.far:
        names = ", ".join(_name(call) for call in report.far[:_MOST_FAR])
        more = " …" if len(report.far) > _MOST_FAR else ""
        said.append(
            f"{len(report.far)} calls of {report.worked_out} are more than 10 % above the least:"
            f" {names}{more}."
        )
    return said


def _kept_watches(rules: common.Rules) -> list[str]:
    """Say which watches stay unchanged, and what would change that."""
    unknown = rules.unknown
    if not unknown:
        return []
    trees = [path for path in unknown if rules.likely(path)]
    shown = ", ".join(unknown[:_MOST_FAR]) + (" …" if len(unknown) > _MOST_FAR else "")
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


def _given_up(report: Savings) -> list[str]:
    if not report.made.options.never_first:
        return []
    if not any(never.NEVER_FIRST in line.done for line in report.made.lines):
        return ["", "A `never` rule at the front would save nothing here, so there is none."]
    return ["", f"What the `never` rule gives up: {never.GIVES_UP}"]


def _as_read(rules: common.Rules) -> dict[str, Any]:
    return {"left_out": rules.left_out_data(), "either_kind": list(rules.unknown)}


def _as_json(report: Savings, out: Path) -> dict[str, Any]:
    made = report.made
    return {
        "out": str(out),
        "rules": {"before": len(made.original), "after": len(made.rules)},
        "walked": dict(zip(("before", "after"), report.walked, strict=True)),
        "unit": "insn/call",
        "calls": [
            {
                "arch": call[0],
                "call": lookup.call_name(*call),
                "before": one.before,
                "after": one.after,
                "least": one.least,
            }
            for call, one in report.by_call.items()
        ],
        "mean": vars(report.mean),
        "least_worked_out": {"calls": report.worked_out, "of": len(report.by_call)},
        "dearer": [_name(call) for call in made.dearer],
        "dearer_failing": made.dearer_failing,
        "done": dict(report.done),
        "proof": {
            "equal": made.proof.equal,
            "classes": made.proof.classes,
            "assumptions": [assumption.text for assumption in made.proof.assumptions],
        },
        "kept_because": made.kept_because or None,
        "gives_up": never.GIVES_UP
        if any(never.NEVER_FIRST in line.done for line in made.lines)
        else None,
        "lines": [
            {
                "rule": output.rule_text(replace(line.rule, source=None)),
                "from": [
                    str(rule.source.place)
                    for rule in (made.original[at] for at in line.origins)
                    if rule.source
                ],
                "done": list(line.done),
                "saves": line.saves,
                "why": reasons.why(line) or None,
            }
            for line in made.lines
        ],
    }
