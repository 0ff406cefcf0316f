"""In which functions a profile's cost arises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace

from hardcost.analysis.calls.hotspots import Names, hotspots_of
from hardcost.analysis.estimates.estimates import cells
from hardcost.controls.control import Profile
from hardcost.errors import RequestError
from hardcost.instruments.insn import INSN
from hardcost.instruments.parallel import PARALLEL
from hardcost.library.bills import budgets
from hardcost.library.bills.single import baseline_note
from hardcost.library.measurement import Foreseen, PlannedRun, finish_run, notes_of
from hardcost.library.profiles import ProfileRequest
from hardcost.measure.monitor import Monitor, Silent
from hardcost.measure.run import Run
from hardcost.model.finding.calls import Calls, OfControl, Own
from hardcost.model.role import Baseline, Whole, Without
from hardcost.model.workload import Workload
from hardcost.plan import leave_one_out
from hardcost.plan.plan import Plan
from hardcost.store.record import Record
from hardcost.units import join_in_prose
from hardcost.workloads.names import all_workloads, workload_named

_COMPARED = (Baseline(), Whole())


@dataclass(frozen=True)
class HotspotsRequest(ProfileRequest):
    """A request for a profile's hotspots on some metrics, all if none is named.

    With `by_control`, also the hotspots of each control; `lines` is a kernel function whose source
    is listed with the instructions of each line.
    """

    _: KW_ONLY
    metrics: tuple[str, ...] = ()
    by_control: bool = False
    lines: str | None = None


def hotspots(request: HotspotsRequest, monitor: Monitor | None = None) -> Calls:
    """Count where the cost of a profile arises, by function, and save the finding.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    HotspotsRequest.expect(request)
    loaded, planned = _plan_run(request, monitor or Silent())
    with planned.begin_run() as run:
        measured = run.measure()
        found = _finding(loaded, planned.plan, run, measured.records)
        return finish_run(run, _select_metrics(found, request.metrics), measured, request.how)


def preview(request: HotspotsRequest, monitor: Monitor | None = None) -> Foreseen:
    """Return the plan, and measure nothing.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    return _plan_run(request, monitor or Silent())[1].preview()


def _plan_run(request: HotspotsRequest, monitor: Monitor) -> tuple[Profile, PlannedRun]:
    """Return the profile, and the trials that are compared."""
    how = request.how
    how.check()
    workloads = how.workloads_of_profile
    check_watched(how.instrument, how.record, workloads)
    known = budgets.metrics(workloads)
    if known is not None:
        _check_metrics(request.metrics, known)
    loaded = request.load_single_profile("hotspots are of")
    return loaded, PlannedRun.of(_plan(loaded, workloads, request), how, monitor)


def check_watched(
    instrument: str | None, record: Sequence[str] | None, workloads: Sequence[Workload]
) -> None:
    """Check that the functions of these workloads can be watched.

    Raises:
        InputError: They can't, or something else is to be measured beside them.
    """
    if instrument not in {None, INSN.name, PARALLEL.name}:
        raise RequestError("functions are counted in instructions: leave `instrument` out")
    if record:
        raise RequestError("no recorder runs beside this count: leave `record` out")
    for one in workloads:
        if workload_named(one.name).windows is None:
            able = [name for name, kind in all_workloads().items() if kind.windows is not None]
            raise RequestError(
                f"`workloads`: {one.name} can't be counted by function",
                hint=f"{join_in_prose(able)} can",
            )


def _plan(loaded: Profile, workloads: Sequence[Workload], request: HotspotsRequest) -> Plan:
    """Return the trials that are compared: those of the profile's bill, with all and with none.

    By control, those without a single control are added.
    """
    how = request.how
    plan = leave_one_out.bill_plan(
        loaded,
        workloads,
        instrument=how.instrument or INSN.name,
        seeds=how.seeds,
        repetitions=how.repetitions,
    )
    single = {Without((at,)) for at in range(len(loaded.controls))}
    wanted = {*_COMPARED, *(single if request.by_control else ())}
    trials = tuple(one for one in plan.trials if one.configuration.role in wanted)
    setup = replace(how.setup, by_function=True, lines=request.lines or "")
    return replace(plan, kind="hotspots", trials=trials).set_up(setup)


def _finding(loaded: Profile, plan: Plan, run: Run, records: Sequence[Record]) -> Calls:
    whole = [record for record in records if record.role == Whole()]
    return Calls(
        run=run.name,
        study=plan.study,
        title=f"Hotspots of {loaded.name}",
        instrument=plan.instrument,
        cells=cells(plan, records),
        notes=(baseline_note(loaded), *plan.notes, *notes_of(whole)),
        hotspots=hotspots_of(records, *_COMPARED),
        by_control=tuple(_by_control(loaded, records)),
    )


def _by_control(loaded: Profile, records: Sequence[Record]) -> Iterator[OfControl]:
    measured, names = {record.role for record in records}, Names()
    for index, control in enumerate(loaded.controls):
        without = Without((index,))
        if without in measured:
            for one in hotspots_of(records, without, Whole(), names):
                own = tuple(Own(it.function, it.own) for it in one.functions if it.own)
                yield OfControl(control.name, control.place, one.metric, one.cost, own)


def _check_metrics(metrics: Sequence[str], known: Sequence[str]) -> None:
    """Check that there are metrics of these names."""
    for metric in metrics:
        if metric not in known:
            raise RequestError(
                f"`metrics`: there is no metric '{metric}'", hint=f"there are {', '.join(known)}"
            )


def _select_metrics(found: Calls, metrics: Sequence[str]) -> Calls:
    """Return the finding with the profiles of the metrics that were named, or all."""
    _check_metrics(metrics, [one.metric for one in found.hotspots])
    if not metrics:
        return found
    return replace(
        found,
        hotspots=tuple(one for one in found.hotspots if one.metric in metrics),
        by_control=tuple(one for one in found.by_control if one.metric in metrics),
    )
