"""One trial: the only place where controls, workload, instrument and machine meet."""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hardcost.controls import apply
from hardcost.errors import InputError, MachineError, TrialError
from hardcost.instruments import recorders
from hardcost.instruments.names import instrument as instrument_named
from hardcost.machines.machine import Boot
from hardcost.store.record import Record
from hardcost.trial.limits import USUAL_LIMITS
from hardcost.workloads.names import (
    WORKLOADS,
    CountsOperations,
    KnowsRemedy,
    NeedsDisk,
    NeedsTree,
    asked,
)
from hardcost.workloads.names import workload as workload_named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.design.plan import Trial
    from hardcost.machines.machine import Guest, Machine, Request
    from hardcost.workloads.names import WorkloadModule

PACKAGES_PARTED = ", "
"""What stands between a package with its version and the next, in a record's environment."""

FIXED_LAYOUT_SEED = 0
"""The seed that stands for no randomness: one memory layout, the same for every trial."""


@dataclass(frozen=True)
class Prepared:
    """A trial, worked out: what boots, what the probe is asked to do, and the hash of all that.

    `notes` are what a reader has to know of the machine's state before anything is run.
    """

    trial: Trial
    boot: Boot
    job: tuple[Request, ...]
    identity: str
    notes: tuple[str, ...] = ()


def prepare(trial: Trial, machine: Machine) -> Prepared:
    """Work a trial out without running it.

    Raises:
        InputError: Its workload, instrument, or a control does not exist or can't be applied.
    """
    instrument = instrument_named(trial.instrument)
    workload = workload_named(trial.workload.name)
    parameters = asked(workload, dict(trial.workload.parameters))
    controls, setup = trial.configuration.controls, trial.setup
    boot = Boot(
        parameters=apply.boot_parameters(controls),
        layout_seed=None if trial.seed == FIXED_LAYOUT_SEED else trial.seed,
        kernel=apply.kernel(controls),
        guest=_guest(trial, workload),
        init=setup.init,
        fresh=setup.fresh,
        tree=workload.tree(parameters) if isinstance(workload, NeedsTree) else 0,
        disk=workload.disk(parameters) if isinstance(workload, NeedsDisk) else 0,
    )
    notes = machine.notes(boot)
    job = (
        *apply.requests(controls),
        *recorders.requests_before(setup.record),
        *workload.requests(parameters, instrument),
        *recorders.requests_after(setup.record),
        *apply.finish(controls),
    )
    parts = {
        "machine": machine.identity(boot),
        "job": job,
        "instrument": trial.instrument,
        "seed": trial.seed,
        "repetition": trial.repetition,
    }
    return Prepared(trial, boot, job, _hash(parts), notes)


async def execute(prepared: Prepared, machine: Machine, limit_seconds: float | None) -> Record:
    """Run a trial, within its guest's usual limit if `limit_seconds` is None; return what is kept.

    Raises:
        InputError: The guest's own tools refuse a control, such as a rule that is misspelt.
        MachineError: The machine did not start; a `TrialError`, a control did not take, the guest
            died, or the workload failed.
    """
    trial = prepared.trial
    instrument = instrument_named(trial.instrument)
    module = workload_named(trial.workload.name)
    parameters = asked(module, dict(trial.workload.parameters))
    try:
        limit = limit_seconds or USUAL_LIMITS[prepared.boot.guest]
        execution = await machine.execute(prepared.boot, prepared.job, limit)
        with _read_strictly():
            notes = apply.verify(trial.configuration.controls, execution.answers)
            measured = module.measured(parameters, execution.answers, instrument)
            operations = (
                module.operations(parameters) if isinstance(module, CountsOperations) else {}
            )
            observed = recorders.observed(trial.setup.record, execution.answers, operations)
    except MachineError as error:
        refused = apply.explain(trial.configuration.controls, str(error))
        hint = error.problems[0].hint
        if hint is None and isinstance(module, KnowsRemedy):
            hint = module.remedy(parameters, prepared.boot.guest, str(error))
        raise (refused or _located(error, trial, hint)) from error
    return Record(
        identity=prepared.identity,
        configuration=trial.configuration.name,
        workload=str(trial.workload),
        instrument=trial.instrument,
        seed=trial.seed,
        repetition=trial.repetition,
        measured=measured,
        environment=machine.environment(prepared.boot) | _packages(prepared, machine),
        notes=(*prepared.notes, *notes),
        start_seconds=execution.start_seconds,
        host_seconds=execution.host_seconds,
        observed=observed,
    )


@contextmanager
def _read_strictly() -> Iterator[None]:
    """Make answers that are of another form than the guest's own fail the trial, not the run."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise TrialError(f"the guest's answers make no sense: {error!r}") from error


def _packages(prepared: Prepared, machine: Machine) -> dict[str, str]:
    """Return the versions of what the trial drives, where the guest has packages."""
    versions = machine.packages(prepared.boot)
    driven = WORKLOADS[prepared.trial.workload.name].PACKAGES
    names = (*driven, *apply.packages(prepared.trial.configuration.controls))
    told = [f"{name} {versions[name]}" for name in dict.fromkeys(names) if name in versions]
    return {"packages": PACKAGES_PARTED.join(told)} if told else {}


def _guest(trial: Trial, workload: WorkloadModule[Any]) -> Guest:
    """Return the guest that holds both what the workload needs and what the setup asks for.

    Raises:
        InputError: There is none.
    """
    if not trial.setup.whole or workload.GUEST == "debian":
        return workload.GUEST
    if workload.GUEST == "small":
        return "debian"
    raise InputError(
        f"the workload {trial.workload.name} has a guest of its own, and what is compared needs a"
        " whole Debian system",
        hint="`hardcost list workloads` shows others",
    )


def _located(error: MachineError, trial: Trial, hint: str | None) -> MachineError:
    """Return the error, of its own kind, with the name of the trial that it struck."""
    name = f"{trial.configuration.name}, {trial.workload}"
    return type(error)(f"{name}: {error}", hint=hint, console=error.console)


def _hash(parts: dict[str, Any]) -> str:
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
