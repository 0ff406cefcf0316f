"""Prepares trials: what boots, what the probe is asked to do, and the hash of all that."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hardcost.errors import InputError, Problem
from hardcost.instruments import recorders
from hardcost.instruments.names import instrument_named
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.turns import LONG_TURNS, TURNS
from hardcost.machines.machine import Capabilities, Machine
from hardcost.measure.monitor import Monitor
from hardcost.mechanisms import apply
from hardcost.mechanisms.kconfig import recipe_of, shipped_of
from hardcost.plan.factorial import start_order
from hardcost.plan.perturbations import UNPERTURBED
from hardcost.plan.plan import Plan, Trial
from hardcost.protocol.boot import INSTALLED, Boot, Guest
from hardcost.protocol.requests import PROBE_REQUESTS, MeasureCalls, Perturb, Request
from hardcost.units import count
from hardcost.workloads.names import check_workload, load

_WORDS = {
    "make": "creating files",
    "write": "writing settings of the kernel",
    "audit": "loading audit rules",
    "run": "running programs as root",
    "start": "starting services",
    "stop": "stopping services",
    "mount": "mounting",
    "unit": "units of systemd",
    "dropcaches": "dropping caches",
    "watch": "recorders",
    "unwatch": "recorders",
}
"""What a request does to a machine, by its name."""

_GUEST = "--machine vm measures it in a guest"
_RUNNING = "--machine ssh:root@HOST does that on a machine that runs already"
_YES = "--yes, said by root, has it changed for each trial and put back"

Job = tuple[Request, ...]
"""What a machine is asked to do for a trial."""

FIXED_LAYOUT_SEED = 0
"""The seed that stands for no randomness: one memory layout, the same for every trial."""


@dataclass(frozen=True)
class Prepared:
    """A trial with what boots, what the probe is asked to do, and the hash of all that.

    `notes` are what a reader has to know of the machine's state before anything is run.
    """

    trial: Trial
    boot: Boot
    job: Job
    identity: str
    notes: tuple[str, ...] = ()


def check_workloads(plan: Plan) -> None:
    """Check the parameters of a plan's workloads, before anything is fetched, built or booted.

    Raises:
        InputError: One is wrong under the plan's instrument.
    """
    instrument = instrument_named(plan.instrument)
    for one in dict.fromkeys(trial.workload for trial in plan.trials):
        check_workload(one.name, dict(one.parameters), [instrument])


def check_able(boots: Iterable[Boot], instrument: str, machine: Machine) -> None:
    """Check that a machine can boot so, and has the instrument, before anything is fetched.

    Raises:
        InputError: It can't, or has not.
    """
    for boot in boots:
        lacking = list(_beyond(boot, instrument, machine))
        if lacking:
            raise InputError(
                f"the machine {machine.name} can't do what is asked: {'; '.join(lacking)}",
                hint="leave that out, or take another machine: `hardcost list machines`",
            )


def prepare_all(plan: Plan, machine: Machine, monitor: Monitor) -> tuple[Prepared, ...]:
    """Let the machine fetch what it needs, and prepare every trial, in the order of their start.

    Raises:
        InputError: A control, workload or kernel is wrong, or beyond what the machine can do.
        MachineError: Something is missing on this host.
    """
    trials = [(trial, boot_of(trial)) for trial in start_order(plan)]
    boots = tuple(dict.fromkeys(boot for _, boot in trials))
    check_able(boots, plan.instrument, machine)
    jobs: list[Job] = []
    with monitor.stage("trials worked out", len(trials)) as advance:
        for trial, _ in trials:
            jobs.append(_job(trial, machine))
            advance()
    beside = [(trial, job) for (trial, _), job in zip(trials, jobs, strict=True)]
    _check_requests(beside, machine)
    _check_copies(jobs, machine)
    # Not earlier: what can be refused has been, and a refusal must not wait for a download.
    machine.fetch(boots, monitor.note)
    return tuple(
        _with_identity(trial, boot, job, machine)
        for (trial, boot), job in zip(trials, jobs, strict=True)
    )


def prepare(trial: Trial, machine: Machine) -> Prepared:
    """Work a trial out without running it.

    Raises:
        InputError: Its workload, instrument, or a control does not exist or can't be applied.
    """
    return _with_identity(trial, boot_of(trial), _job(trial, machine), machine)


def _with_identity(trial: Trial, boot: Boot, job: Job, machine: Machine) -> Prepared:
    parts = {
        "machine": machine.identity(boot),
        "job": [request.as_json() for request in job],
        "instrument": trial.instrument,
        "seed": trial.seed,
        "repetition": trial.repetition,
    }
    if trial.instrument == PARALLEL.name:
        parts["long_turns"] = LONG_TURNS.nanoseconds
    return Prepared(trial, boot, job, _hash(parts), machine.notes(boot))


def _job(trial: Trial, machine: Machine) -> Job:
    """Return the requests of a trial, from applying its controls to stopping them."""
    controls, setup = trial.configuration.controls, trial.setup
    able = machine.capabilities.requests
    job = (
        # First, so that no processor is idle while services start.
        *((TURNS.request,) if trial.instrument == PARALLEL.name else ()),
        *apply.requests(controls),
        *recorders.requests_before(setup.record),
        *_requests_of_workload(trial),
        *recorders.requests_after(setup.record),
        *apply.finish(controls),
    )
    if able is None:
        return job
    return tuple(one for one in job if one.do in able or not apply.can_do_without(one))


def _requests_of_workload(trial: Trial) -> list[Request]:
    """Return the requests of the workload, perturbed by changes without a meaning."""
    instrument = instrument_named(trial.instrument)
    workload = load(trial.workload)
    if workload.kind.perturbed is not None:
        return workload.kind.perturbed(workload.parameters, instrument, trial.perturbations)
    requests = workload.kind.requests(workload.parameters, instrument)
    if trial.perturbations == UNPERTURBED:
        return requests
    # A workload that does not perturb its own parts has one number for the whole trial.
    (number,) = trial.perturbations
    return [Perturb(number=number), *requests]


def boot_of(trial: Trial) -> Boot:
    """Return what boots for a trial.

    Raises:
        InputError: Its workload or a control does not exist or can't be applied.
    """
    workload = load(trial.workload)
    controls, setup = trial.configuration.controls, trial.setup
    return Boot(
        parameters=apply.boot_parameters(controls),
        layout_seed=None if trial.seed == FIXED_LAYOUT_SEED else trial.seed,
        kernel=recipe_of(controls),
        shipped=shipped_of(controls),
        guest=_guest(trial, workload.kind.guest),
        init=setup.init,
        fresh=setup.fresh,
        tree=workload.kind.tree(workload.parameters),
        disk=workload.kind.disk(workload.parameters),
        by_function=setup.by_function,
        traced=setup.traced,
        lines=setup.lines,
    )


def _guest(trial: Trial, needed: Guest) -> Guest:
    """Return the guest that fits both the workload and the setup."""
    if not trial.setup.whole or needed == "debian":
        return needed
    if needed == "small":
        return "debian"
    raise InputError(
        f"the workload {trial.workload.name} has a guest of its own, and what is compared needs a"
        " whole Debian system",
        hint="`hardcost list workloads` shows others",
    )


def _check_requests(trials: Iterable[tuple[Trial, Job]], machine: Machine) -> None:
    """Check that a machine carries out all that it is asked to do, before anything is fetched."""
    of_guest = machine.capabilities.requests is None
    able = machine.capabilities.requests or PROBE_REQUESTS
    beyond: dict[tuple[str, ...], list[str]] = {}
    for trial, job in trials:
        asked = tuple(sorted({request.do for request in job} - able))
        beyond.setdefault(asked, []).append(trial.configuration.name)
    beyond.pop((), None)
    refusal = "has none to change" if of_guest else "is not to be changed"
    problems = tuple(
        Problem(
            f"the machine {machine.name} {refusal}, and {_first_of(names)} needs"
            f" {', '.join(dict.fromkeys(_WORDS.get(do, do) for do in asked))}",
            hint=_remedy(asked, machine),
        )
        for asked, names in beyond.items()
    )
    if problems:
        raise InputError.of(problems)


def _check_copies(jobs: Iterable[Job], machine: Machine) -> None:
    """Check that each copy of a call has a processor of its own."""
    there = machine.capabilities.processors
    calls = (request for job in jobs for request in job if isinstance(request, MeasureCalls))
    most = max((one.copies or 1 for one in calls), default=1)
    if most > there:
        others = "host and ssh:USER@HOST are machines with several"
        raise InputError(
            f"copies={most} needs {most} processors, and the machine {machine.name} has"
            f" {there} that may be used",
            hint=others if there == 1 else f"copies={there} is the most there",
        )


def _remedy(asked: Iterable[str], machine: Machine) -> str:
    """Return what to do where a machine is not to be changed so."""
    elsewhere = _RUNNING if set(asked) - PROBE_REQUESTS else _GUEST
    may = not set(asked) - machine.capabilities.with_yes
    return f"{_YES}; or {elsewhere}" if may else elsewhere


def _first_of(names: Sequence[str]) -> str:
    """Return the first of some configurations' names, and how many others there are."""
    first, *rest = sorted(set(names))
    others = len(rest)
    more = f" (as {'does' if others == 1 else 'do'} {count(others, 'other')})" if others else ""
    return f"the configuration '{first}'{more}"


def _beyond(boot: Boot, instrument: str, machine: Machine) -> Iterator[str]:
    """Yield what a boot needs that the machine does not have."""
    able = machine.capabilities
    if instrument not in able.instruments:
        others = ", ".join(sorted(able.instruments))
        yield f"it does not have the instrument {instrument} (--instrument {others})"
    if boot.guest not in able.guests:
        yield f"it has no guest '{boot.guest}'"
    if boot.init not in able.inits:
        yield f"its services are not started by {boot.init}"
    if boot.parameters and not able.parameters:
        yield f"it takes no boot parameters ({' '.join(boot.parameters)})"
    if boot.kernel is not None and not able.kernels:
        yield "it boots no kernels that are built with options or patches"
    if boot.shipped is not None:
        yield from _no_kernel(boot.shipped, able)
    if boot.layout_seed is not None and not able.layouts:
        yield "it can't repeat a memory layout by its seed"
    if boot.fresh and not able.fresh:
        yield "it does not boot for each trial"
    if boot.by_function and not able.by_function:
        yield "it does not see which functions execute how much"


def _no_kernel(name: str, able: Capabilities) -> Iterator[str]:
    """Yield why a machine does not boot the kernel of that name, if it does not."""
    if name.startswith(INSTALLED) and not able.installed:
        yield f"no kernels are installed on it, such as {name}"
    elif not name.startswith(INSTALLED) and not able.kernels:
        others = f", or what is installed there ({INSTALLED}RELEASE)" if able.installed else ""
        yield f"it boots its own kernel alone{others}, and not {name}"


def _hash(parts: dict[str, Any]) -> str:
    # Sorted and in ASCII: the identity must not depend on how the parts were put together.
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
