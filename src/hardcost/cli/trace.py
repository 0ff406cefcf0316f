"""`hardcost trace`: which process runs when, until the audit records are handled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.replay import modelled
from hardcost.analysis.traced import traced
from hardcost.cli import measuring, options, profilable, refused
from hardcost.cli.console import show
from hardcost.cli.namedprofiles import named_profiles
from hardcost.cli.present import Page, notes_of, put_or_print, write_report
from hardcost.design import leave_one_out
from hardcost.design.plan import Workload
from hardcost.errors import InputError
from hardcost.files import check_put
from hardcost.instruments.insn import INSN
from hardcost.profiles.commandline import Settings
from hardcost.report.exports.perfetto import perfetto
from hardcost.report.jsonout import to_json
from hardcost.report.tables.trace_table import trace_table
from hardcost.workloads.onecall import NAME as ONE_CALL
from hardcost.workloads.parameters import meant
from hardcost.workloads.syscalls import NAME as SYSCALLS
from hardcost.workloads.syscalls import calls

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hardcost.cli.options import Choices
    from hardcost.controls.control import LsmMode, Profile
    from hardcost.design.plan import Plan
    from hardcost.run.session import Run
    from hardcost.store.record import Record

_MOST, _DIGITS = 1024, 5  # processors, and digits of their number


def trace(  # noqa: PLR0913  (click's options)
    name: str | None,
    *,
    call: str | None,
    processors: str | None,
    whole: bool,
    output: Path | None,
    scap_profile: str | None,
    sysctl: tuple[str, ...],
    lsm: LsmMode | None,
    **words: Any,  # noqa: ANN401  (click's options)
) -> None:
    """Print which process runs when under PROFILE.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    settings = Settings(sysctl, options.started(words), lsm)
    chosen = options.choices(words, INSN.name)
    workloads, numbers = _workloads(call, chosen), _numbers(processors)
    if output is not None:
        check_put(output, "-o")
    names = () if name is None else (name,)
    (loaded,) = named_profiles(names, scap_profile, settings)
    refused.check(loaded)
    plan = plan_of(loaded, workloads, chosen, beside=bool(numbers))
    with measuring.run_of(plan, chosen) as run:
        if run is None:
            return
        found = _finding(loaded, plan, run, run.measure().records, numbers)
        found = measuring.finished(run, found)
    _print(found, chosen, output, whole=whole)


def _workloads(call: str | None, chosen: Choices) -> tuple[Workload, ...]:
    """Return what is traced: one call, or the workloads that were named.

    Raises:
        InputError: It can't be traced.
    """
    if (call is None) == (chosen.workloads is None):
        raise click.UsageError("Name a --call, such as chmod, or a --workload, such as filecopy.")
    if chosen.seeds is not None or chosen.repetitions is not None:
        raise InputError("a trace is of one trial: leave --seeds and --repetitions out")
    if call is not None:
        if call not in calls():
            hint = meant(call, "calls", calls())
            raise InputError(f"--call: there is no call '{call[:40]}'", hint=hint)
        profilable.check(chosen.instrument, chosen.record, ())
        return (Workload(ONE_CALL, (("call", call),)),)
    workloads = chosen.workloads or ()
    if any(one.name == SYSCALLS for one in workloads):
        raise InputError(
            f"--workload: {SYSCALLS} can't be traced", hint="--call open traces one call of it"
        )
    profilable.check(chosen.instrument, chosen.record, workloads)
    return workloads


def _numbers(processors: str | None) -> tuple[int, ...]:
    """Return the numbers of processors, each once, in order.

    Raises:
        InputError: One is none.
    """
    words = [] if processors is None else processors.split(",")
    for word in words:
        if not (word.isascii() and word.isdecimal() and 1 <= int(word[:_DIGITS]) <= _MOST):
            raise InputError(
                f"--processors: '{word[:20]}' is no number from 1 to {_MOST}",
                hint="separate several with commas: 1,2,4,8",
            )
    return tuple(sorted({int(word) for word in words}))


def plan_of(
    loaded: Profile, workloads: Sequence[Workload], chosen: Choices, *, beside: bool = False
) -> Plan:
    """Return the trial that is traced for each workload: with the whole profile.

    `beside` adds the one without it, to compare with.
    """
    plan = leave_one_out.bill_plan(loaded, workloads, seeds=(0,), repetitions=1)
    trials = tuple(
        replace(one, perturbations=(0,))
        for one in plan.trials
        if one.configuration.name == leave_one_out.PROFILE
        or (beside and one.configuration.name == leave_one_out.BASELINE)
    )
    study = plan.study.replace("bill", "trace", 1)
    setup = replace(chosen.setup, profiled=True, traced=True)
    return replace(plan, study=study, trials=trials).set_up(setup)


def _finding(
    loaded: Profile, plan: Plan, run: Run, records: Sequence[Record], numbers: Sequence[int]
) -> Finding:
    traces = [
        traced(one, record.workload, record.configuration)
        for record in sorted(records, key=lambda one: one.configuration != leave_one_out.PROFILE)
        for one in record.traces
    ]
    return Finding(
        run=run.name,
        study=plan.study,
        title=f"Trace under {loaded.name}",
        instrument=plan.instrument,
        cells=cells(plan, records),
        notes=(*plan.notes, *notes_of(records)),
        traces=tuple(replace(one, modelled=modelled(one, numbers)) for one in traces),
    )


def _print(found: Finding, chosen: Choices, output: Path | None, *, whole: bool) -> None:
    """Print the trace in the form that was chosen, or write it to a file; and write the report.

    Raises:
        StoreError: The file can't be written.
    """
    content: bytes | None = None
    if chosen.format == "json":
        content = f"{to_json(found)}\n".encode()
    elif chosen.format == "perfetto":
        content = perfetto(found.traces)
    table = trace_table(found, whole=whole)
    put_or_print(content, output, lambda: table, lambda: show(table))
    write_report(found, Page(chosen.report, chosen.store))
