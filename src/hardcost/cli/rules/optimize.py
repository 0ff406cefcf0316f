"""`hardcost rules optimize`: a cheaper set of audit rules that records the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from hardcost.auditrules import parse
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.optimize import never, output
from hardcost.auditrules.optimize.optimise import Options, optimise
from hardcost.auditrules.optimize.report import Report
from hardcost.auditrules.rule import RulesError
from hardcost.auditrules.tables import lookup
from hardcost.cli import options
from hardcost.cli.console import note, show
from hardcost.cli.rules import common
from hardcost.controls.written import problems_of
from hardcost.errors import InputError
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.optimize.report import Costs
    from hardcost.auditrules.rule import Reading
    from hardcost.auditrules.tables.lookup import Arch

_NO = 1
_MOST_FAR = 6


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write.",
)
@click.option("--force", is_flag=True, help="Write over the file if there is one.")
@common.histogram_option
@click.option("--no-b32", is_flag=True, help="The machine has no 32-bit calls.")
@click.option(
    "--allow-never-first",
    is_flag=True,
    help="Put a rule of never in front, over calls that no rule asks for; what that gives up is"
    " printed.",
)
@click.option(
    "--leave-out-faulty", is_flag=True, help="Go on without the lines that auditctl refuses."
)
@common.passwd_options
@options.format_option()
def optimize(  # noqa: PLR0913  (click's options)
    paths: tuple[Path, ...],
    *,
    out: Path,
    force: bool,
    histogram_file: Path | None,
    no_b32: bool,
    allow_never_first: bool,
    leave_out_faulty: bool,
    passwd: Path | None,
    group: Path | None,
    format: str,  # noqa: A002
) -> None:
    """Make audit rules cheaper, and prove that they record the same.

    Calls of like rules are merged, rules that can't decide dropped, conditions reordered, rules
    narrowed to the calls that they can match, and the rules of both ABIs joined where that is
    sound. OUT says for each rule which lines it came from. Costs are predicted, for Debian's
    kernel, in instructions; `least` is what no set that records the same can go below.

    Exit status 1 where no cheaper set could be proved equal.

    \b
    Example:  hardcost rules optimize /etc/audit/rules.d -o cheaper.rules
    """
    _check_out(out, paths, force=force)
    taken = common.read(paths, passwd, group)
    rules = _kept(taken, leave_out_faulty=leave_out_faulty)
    mix = common.histogram(histogram_file)
    constants = Constants.of_debian()
    chosen = Options(b32=not no_b32, never_first=allow_never_first)
    made = optimise(rules, constants, mix, chosen)
    readings: list[Reading] = [one for found, _ in parse.read_each(paths) for one in found]
    content = output.text(made, readings, common.target(taken.written, passwd, group))
    out.write_text(content, errors="surrogateescape")
    report = Report(made, constants, mix)
    if format == "json":
        print(json.dumps(_as_json(report, out), indent=2))
    else:
        _show(report, out, assumed=histogram_file is None)
    if made.kept_because:
        raise click.exceptions.Exit(_NO)


def _check_out(out: Path, paths: Sequence[Path], *, force: bool) -> None:
    """Check that writing takes nothing away.

    Raises:
        InputError: The file is one of the rules', or is there already.
    """
    real = out.resolve()
    inputs = [path.resolve() for path in paths]
    if real in inputs or any(path.is_dir() and real.parent == path for path in inputs):
        raise InputError(
            f"{out} is, or lies among, the files that are read",
            hint="name another file, and put it in place yourself once you have looked at it",
        )
    if out.exists() and not force:
        raise InputError(f"{out} is there already", hint="--force writes over it")
    if not out.parent.is_dir():
        raise InputError(f"there is no folder {out.parent}", hint="make it first")


def _kept(taken: common.Rules, *, leave_out_faulty: bool) -> tuple[KernelRule, ...]:
    """Return the rules that stay loaded, and tell of those that do not.

    Raises:
        InputError: One can't be loaded, and the set does not ask to go on after it.
    """
    if taken.faults and not (leave_out_faulty or taken.written.tolerant):
        raise InputError.of(problems_of(RulesError(taken.faults)))
    for fault in taken.faults:
        note(f"{fault}; the line is left out")
    kept: list[KernelRule] = []
    known: set[tuple[object, ...]] = set()
    for rule in taken.loaded:
        same = (rule.list, rule.action, rule.mask, rule.conditions, rule.key)
        if same in known and not rule.prepend:
            place = rule.source.place if rule.source else "a rule"
            note(f"{place}: an earlier rule says the same, and the kernel refuses it: left out")
            continue
        known.add(same)
        kept.append(rule)
    return tuple(kept)


# Showing ----------------------------------------------------------------------------------------


def _show(report: Report, out: Path, *, assumed: bool) -> None:
    made = report.made
    before, after = report.walked
    show(_table(report))
    lines = [
        "",
        (
            f"{len(made.original)} rules became {len(made.rules)}; every call walks {after} of them"
            f" where it walked {before}."
        ),
        *_whether_dearer(report),
        *(f"- {what}: {count}" for what, count in report.done.most_common()),
        *([f"- dropped: {len(made.dropped)}"] if made.dropped else []),
        "",
        *_proof(report),
        "",
        *_least(report),
        *_given_up(report),
        f"written: {out}",
    ]
    for line in lines:
        click.echo(visible(line))
    note("predicted from constants of Debian's kernel; instructions are not time")
    if assumed:
        note("the mix of calls is an assumed one; --histogram takes your own")


def _table(report: Report) -> Table:
    table = Table(
        title="predicted insn a call, beyond what any rule at all costs; a record is part of it",
        title_justify="left",
    )
    table.add_column("call")
    for name in ("of 1000 calls", "before", "after", "least", "after/least"):
        table.add_column(name, justify="right")
    total = sum(report.histogram.values()) or 1.0
    for call in report.shown:
        share = 1000 * report.histogram.get(call, 0.0) / total
        table.add_row(_name(call), f"{share:.1f}", *_cells(report.by_call[call]))
    table.add_section()
    table.add_row("mean of the mix", "1000", *_cells(report.mean))
    return table


def _cells(one: Costs) -> list[str]:
    ratio = f"{one.after / one.least:.2f}" if one.least else "-"
    return [f"{one.before:,.0f}", f"{one.after:,.0f}", f"{one.least:,.0f}", ratio]


def _name(call: tuple[Arch, int]) -> str:
    arch, number = call
    name = lookup.call_name(arch, number)
    return name if arch == "b64" else f"{name} ({arch})"


def _whether_dearer(report: Report) -> list[str]:
    made = report.made
    count = len(made.before)
    abis = "both ABIs" if made.options.b32 else "b64"
    if made.kept_because:
        return [f"Nothing was changed: {made.kept_because}."]
    if not made.dearer:
        said = [f"No call costs more than before: all {count} of {abis}, as they typically go."]
    else:
        most = max(made.after[call] - made.before[call] for call in made.dearer)
        names = ", ".join(_name(call) for call in made.dearer[:_MOST_FAR])
        more = " …" if len(made.dearer) > _MOST_FAR else ""
        said = [
            (
                f"{len(made.dearer)} calls of {count} cost up to {most:,.0f} more, for passing the"
                f" rule of never: {names}{more}. No other does."
            )
        ]
    if made.dearer_failing:
        said.append(
            f"A call that fails with an error that a range covers or leaves out may cost up to"
            f" {made.dearer_failing:,.0f} more."
        )
    return said


def _proof(report: Report) -> list[str]:
    proof = report.made.proof
    if not proof.equal:
        return ["It is not proved that the rules are the same as themselves, which is a fault."]
    return [
        (
            f"Proved for all events, in {proof.classes} classes of calls: the same is recorded,"
            " under the same key, as long as:"
        ),
        *(f"- {text}" for text in proof.assumptions),
    ]


def _least(report: Report) -> list[str]:
    needed = len(report.bounds.needs.everywhere)
    said = [
        (
            f"The least: any set that records the same has at least {needed} rules that every call"
            f" walks, for there are {needed} events no two of which one rule can match without"
            " matching one that must not be. (Sets are meant that test a0 to a3 as these do, cost"
            " no call more than now and, for a call, no more frequent one more than the new set.)"
        ),
    ]
    if report.far:
        names = ", ".join(_name(call) for call in report.far[:_MOST_FAR])
        more = " …" if len(report.far) > _MOST_FAR else ""
        said.append(
            f"{len(report.far)} calls of {len(report.by_call)} are more than 10 % above it:"
            f" {names}{more}."
        )
    return said


def _given_up(report: Report) -> list[str]:
    if not report.made.options.never_first:
        return []
    if not any(never.NEVER_FIRST in line.done for line in report.made.lines):
        return ["", "A rule of never in front would not pay here; there is none."]
    return ["", f"What the rule of never gives up: {never.GIVES_UP}"]


def _as_json(report: Report, out: Path) -> dict[str, Any]:
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
        "dearer": [_name(call) for call in made.dearer],
        "dearer_failing": made.dearer_failing,
        "done": dict(report.done),
        "proof": {
            "equal": made.proof.equal,
            "classes": made.proof.classes,
            "assumptions": list(made.proof.assumptions),
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
            }
            for line in made.lines
        ],
    }
