"""Which process runs when, from a call until the audit records are handled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

from hardcost.analysis.calls.trace import trace_by_pieces
from hardcost.analysis.estimates.estimates import cells
from hardcost.controls.control import Profile
from hardcost.errors import InputError, RequestError
from hardcost.library.hotspots import check_watched
from hardcost.library.measurement import Foreseen, Measuring, PlannedRun, finish_run, notes_of
from hardcost.library.profiles import ProfileRequest
from hardcost.measure.monitor import Monitor, Silent
from hardcost.measure.run import Run
from hardcost.model.finding.trace import Traces
from hardcost.model.role import Whole
from hardcost.model.workload import Workload
from hardcost.plan import leave_one_out
from hardcost.plan.plan import Plan
from hardcost.store.record import Record
from hardcost.workloads import one_call, syscalls
from hardcost.workloads.parameters import nearest_hint
from hardcost.workloads.syscalls import calls


@dataclass(frozen=True)
class TraceRequest(ProfileRequest):
    """A request for a trace of one `call` of the workload syscalls, or of `how`'s workloads."""

    _: KW_ONLY
    call: str | None = None


def trace(request: TraceRequest, monitor: Monitor | None = None) -> Traces:
    """Trace which process runs when under a profile, and save the finding.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    TraceRequest.expect(request)
    loaded, planned = _plan_run(request, monitor or Silent())
    with planned.begin_run() as run:
        measured = run.measure()
        found = _finding(loaded, planned.plan, run, measured.records)
        return finish_run(run, found, measured, request.how)


def preview(request: TraceRequest, monitor: Monitor | None = None) -> Foreseen:
    """Return the plan, and trace nothing.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    return _plan_run(request, monitor or Silent())[1].preview()


def _plan_run(request: TraceRequest, monitor: Monitor) -> tuple[Profile, PlannedRun]:
    """Return the profile, and the trials that are traced."""
    how = request.how
    how.check()
    workloads = _workloads(request.call, how)
    loaded = request.load_single_profile("a trace is of")
    plan = _plan(loaded, workloads, how)
    return loaded, PlannedRun.of(plan, how, monitor)


def _workloads(call: str | None, how: Measuring) -> tuple[Workload, ...]:
    """Return the workloads to trace: one call, or those that were named."""
    if (call is None) == (how.workloads is None):
        raise InputError("name a call, such as chmod, or a workload, such as filecopy: not both")
    if how.wanted.processors > 1:
        raise RequestError(
            "`processors`: a trace is of one processor, on which pieces follow each other",
            hint="hotspots counts by function on several",
        )
    if how.seeds is not None or how.repetitions is not None:
        raise RequestError("a trace is of one trial: leave `seeds` and `repetitions` out")
    if call is not None:
        if call not in calls():
            hint = nearest_hint(call, "calls", calls())
            raise RequestError(f"`call`: there is no call '{call[:40]}'", hint=hint)
        check_watched(how.instrument, how.record, ())
        return (Workload(one_call.NAME, (("call", call),)),)
    workloads = how.workloads or ()
    if any(one.name == syscalls.NAME for one in workloads):
        raise RequestError(
            f"`workloads`: {syscalls.NAME} can't be traced",
            hint="`call` open traces one call of it",
        )
    check_watched(how.instrument, how.record, workloads)
    return workloads


def _plan(loaded: Profile, workloads: Sequence[Workload], how: Measuring) -> Plan:
    """Return the trial that is traced for each workload: with the whole profile."""
    plan = leave_one_out.bill_plan(loaded, workloads, seeds=(0,), repetitions=1)
    trials = tuple(
        replace(one, perturbations=(0,)) for one in plan.trials if one.configuration.role == Whole()
    )
    setup = replace(how.setup, by_function=True, traced=True)
    return replace(plan, kind="trace", trials=trials).set_up(setup)


def _finding(loaded: Profile, plan: Plan, run: Run, records: Sequence[Record]) -> Traces:
    return Traces(
        run=run.name,
        study=plan.study,
        title=f"Trace under {loaded.name}",
        instrument=plan.instrument,
        cells=cells(plan, records),
        notes=(*plan.notes, *notes_of(records)),
        traces=tuple(
            trace_by_pieces(one, record.workload, record.role)
            for record in records
            for one in record.traces
        ),
    )
