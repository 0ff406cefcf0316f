"""One trial, carried out on a machine: what is kept of it, or why it failed."""

from __future__ import annotations

from dataclasses import replace

from hardcost.errors import MachineError
from hardcost.instruments import processors, recorders
from hardcost.instruments.call_trees import call_tree
from hardcost.instruments.names import instrument_named
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.read_trace import traces
from hardcost.instruments.traces import Trace
from hardcost.instruments.turns import TURNS, with_long_turns
from hardcost.machines.machine import Execution, Machine
from hardcost.measure.prepare import Prepared
from hardcost.mechanisms import apply
from hardcost.mechanisms.audit_logs import count_logged
from hardcost.plan.plan import Trial
from hardcost.protocol.boot import Guest
from hardcost.store.record import Record
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.names import load

PACKAGE_SEPARATOR = ", "
"""What stands between a package with its version and the next, in a record's environment."""

USUAL_LIMITS: dict[Guest, float] = {"small": 120, "compiler": 120, "debian": 1200}
"""How many seconds of host time a trial may take, by guest, unless the user says otherwise."""


async def execute(prepared: Prepared, machine: Machine, limit_seconds: float | None) -> Record:
    """Run a trial, within its guest's usual limit if `limit_seconds` is None; return what is kept.

    Raises:
        InputError: The guest's own tools refuse a control, such as a rule that is misspelt.
        MachineError: The machine did not start; a `TrialError`, a control did not take, the guest
            died, or the workload failed.
    """
    trial = prepared.trial
    instrument = instrument_named(trial.instrument)
    workload = load(trial.workload)
    kind, parameters = workload.kind, workload.parameters
    try:
        limit = limit_seconds or USUAL_LIMITS[prepared.boot.guest]
        execution = await machine.execute(prepared.boot, prepared.job, limit)
        controls, answers = trial.configuration.controls, execution.answers
        notes = apply.verify(controls, answers)
        measured = kind.measured(parameters, answers, instrument)
        if instrument is PARALLEL:
            execution, measured = await _at_long_turns(
                prepared, machine, limit, execution, measured
            )
        observed = recorders.observations_of(
            trial.setup.record, answers, kind.operations(parameters), count_logged(answers)
        )
        if instrument is PARALLEL:
            observed += (processors.observation_of(answers, TURNS, machine.capabilities.in_turn),)
        counted = kind.counted(answers)
        calls, traced = None, tuple[Trace, ...]()
        if execution.stacks is not None and kind.windows is not None:
            windows = kind.windows(parameters, answers, instrument)
            calls = call_tree(execution.stacks, windows)
            if prepared.boot.traced:
                traced = traces(execution.stacks, windows, kind.program)
    except MachineError as error:
        refused = apply.explain(trial.configuration.controls, str(error))
        hint = error.problems[0].hint
        if hint is None:
            hint = kind.remedy(parameters, prepared.boot.guest, str(error))
        raise (refused or _locate_error(error, trial, hint)) from error
    return Record(
        identity=prepared.identity,
        role=trial.configuration.role,
        workload=trial.workload,
        instrument=trial.instrument,
        seed=trial.seed,
        repetition=trial.repetition,
        measured=measured,
        environment=machine.environment(prepared.boot) | _packages(prepared, machine),
        notes=(*prepared.notes, *notes),
        start_seconds=execution.start_seconds,
        host_seconds=execution.host_seconds,
        observed=(*observed, *counted),
        calls=calls,
        traces=traced,
        surroundings=dict(execution.surroundings),
        source=dict(execution.source),
    )


async def _at_long_turns(
    prepared: Prepared,
    machine: Machine,
    limit_seconds: float,
    execution: Execution,
    measured: tuple[MetricSamples, ...],
) -> tuple[Execution, tuple[MetricSamples, ...]]:
    """Carry a trial out once more with longer turns of its processors.

    Return the execution with the host's time of both, and the metrics with the samples of both.
    """
    job = with_long_turns(prepared.job)
    boot = replace(prepared.boot, by_function=False, lines="")  # its counts are not used
    again = await machine.execute(boot, job, limit_seconds)
    workload = load(prepared.trial.workload)
    longer = {
        one.metric: one.samples
        for one in workload.kind.measured(workload.parameters, again.answers, PARALLEL)
    }
    seconds = execution.host_seconds + again.host_seconds
    return replace(execution, host_seconds=seconds), tuple(
        one.model_copy(update={"long_turns": longer.get(one.metric, ())}) for one in measured
    )


def _packages(prepared: Prepared, machine: Machine) -> dict[str, str]:
    """Return the versions of what the trial drives, where the guest has packages."""
    versions = machine.packages(prepared.boot)
    driven = load(prepared.trial.workload).kind.packages
    names = (*driven, *apply.packages(prepared.trial.configuration.controls))
    known = [f"{name} {versions[name]}" for name in dict.fromkeys(names) if name in versions]
    return {"packages": PACKAGE_SEPARATOR.join(known)} if known else {}


def _locate_error(error: MachineError, trial: Trial, hint: str | None) -> MachineError:
    """Return the error, of its own kind: with its line in a file, or the trial that it struck."""
    place = error.problems[0].place
    name = "" if place else f"{trial.configuration.name}, {trial.workload}"
    return type(error)(str(error), place=place, hint=hint, console=error.console, trial=name)
