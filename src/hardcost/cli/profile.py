"""`hardcost profile`: in which functions a profile's cost arises."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import ControlProfiled, Finding
from hardcost.analysis.itemise import place
from hardcost.analysis.profiled import Names, profiled
from hardcost.cli import measuring, options, profilable, refused
from hardcost.cli.billsingle import baseline_note
from hardcost.cli.namedprofiles import named_profiles
from hardcost.cli.present import Page, notes_of, present, put_or_print, write_report
from hardcost.design import leave_one_out
from hardcost.design.plan import Workload
from hardcost.errors import InputError
from hardcost.files import check_put
from hardcost.instruments.insn import INSN
from hardcost.profiles.commandline import Settings
from hardcost.report.exports.callgrind import callgrind
from hardcost.report.exports.folded import folded
from hardcost.report.exports.pprof import pprof
from hardcost.report.exports.speedscope import speedscope
from hardcost.report.jsonout import to_json
from hardcost.report.tables.profile_table import profile_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from hardcost.cli.options import Choices
    from hardcost.controls.control import LsmMode, Profile
    from hardcost.design.plan import Plan
    from hardcost.run.session import Run
    from hardcost.store.record import Record

_COMPARED = (leave_one_out.BASELINE, leave_one_out.PROFILE)


def profile(  # noqa: PLR0913  (click's options)
    name: str | None,
    *,
    metric: tuple[str, ...],
    by_control: bool,
    lines: str | None,
    output: Path | None,
    scap_profile: str | None,
    sysctl: tuple[str, ...],
    lsm: LsmMode | None,
    **words: Any,  # noqa: ANN401  (click's options)
) -> None:
    """Print in which functions the cost of PROFILE arises.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    settings = Settings(sysctl, options.started(words), lsm)
    chosen = options.choices(words, INSN.name)
    workloads = chosen.workloads or (Workload("syscalls"),)
    profilable.check(chosen.instrument, chosen.record, workloads)
    if output is not None:
        check_put(output, "-o")
    names = () if name is None else (name,)
    (loaded,) = named_profiles(names, scap_profile, settings)
    refused.check(loaded)
    plan = plan_of(loaded, workloads, chosen, by_control=by_control)
    plan = plan.set_up(replace(chosen.setup, profiled=True, lines=lines or ""))
    with measuring.run_of(plan, chosen) as run:
        if run is None:
            return
        found = _finding(loaded, plan, run, run.measure().records)
        found = measuring.finished(run, _wanted(found, metric))
    _print(found, chosen, output)


def _print(found: Finding, chosen: Choices, output: Path | None) -> None:
    """Print the profile in the form that was chosen, or write it to a file; and write the report.

    Raises:
        StoreError: The file can't be written.
    """
    content = _FORMS[chosen.format](found) if chosen.format in _FORMS else None
    put_or_print(
        content,
        output,
        lambda: profile_table(found),
        lambda: present(found, chosen.format, None),
    )
    write_report(found, Page(chosen.report, chosen.store))


_FORMS: dict[str, Callable[[Finding], bytes]] = {
    "json": lambda found: f"{to_json(found)}\n".encode(),
    "folded": lambda found: folded(found.profiles, columns=1).encode(),
    "folded-diff": lambda found: folded(found.profiles, columns=2).encode(),
    "speedscope": lambda found: speedscope(found.profiles, found.title).encode(),
    "pprof": lambda found: pprof(found.profiles),
    "callgrind": lambda found: callgrind(found.profiles, found.title).encode(),
}


def plan_of(
    loaded: Profile, workloads: Sequence[Workload], chosen: Choices, *, by_control: bool = False
) -> Plan:
    """Return the trials that are compared: those of the profile's bill, with all and with none.

    `by_control` adds those without a single control.
    """
    plan = leave_one_out.bill_plan(
        loaded, workloads, seeds=chosen.seeds, repetitions=chosen.repetitions
    )
    single = {leave_one_out.without(at) for at in range(len(loaded.controls))}
    wanted = {*_COMPARED, *(single if by_control else ())}
    trials = tuple(one for one in plan.trials if one.configuration.name in wanted)
    study = plan.study.replace("bill", "profile", 1)
    return replace(plan, study=study, trials=trials).set_up(replace(chosen.setup, profiled=True))


def _finding(loaded: Profile, plan: Plan, run: Run, records: Sequence[Record]) -> Finding:
    whole = [record for record in records if record.configuration == leave_one_out.PROFILE]
    return Finding(
        run=run.name,
        study=plan.study,
        title=f"Profile of {loaded.name}",
        instrument=plan.instrument,
        cells=cells(plan, records),
        notes=(baseline_note(loaded), *plan.notes, *notes_of(whole)),
        profiles=profiled(records, *_COMPARED),
        by_control=tuple(_by_control(loaded, records)),
    )


def _by_control(loaded: Profile, records: Sequence[Record]) -> Iterator[ControlProfiled]:
    measured, names = {record.configuration for record in records}, Names()
    for index, control in enumerate(loaded.controls):
        without = leave_one_out.without(index)
        if without in measured:
            for one in profiled(records, without, leave_one_out.PROFILE, names):
                yield ControlProfiled(control.name, place(control), one)


def _wanted(found: Finding, metrics: Sequence[str]) -> Finding:
    """Return the finding with the profiles of the metrics that were named, or all.

    Raises:
        InputError: There is no such metric.
    """
    known = [one.metric for one in found.profiles]
    for metric in metrics:
        if metric not in known:
            raise InputError(
                f"--metric: there is no metric '{metric}'", hint=f"there are {', '.join(known)}"
            )
    if not metrics:
        return found
    return replace(
        found,
        profiles=tuple(one for one in found.profiles if one.metric in metrics),
        by_control=tuple(one for one in found.by_control if one.profiled.metric in metrics),
    )
