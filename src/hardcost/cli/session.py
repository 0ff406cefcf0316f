"""A run from its plan to its finding: what `run` and `bill` have in common."""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hardcost.analysis.cautions import cautioned
from hardcost.analysis.coarse import coarse
from hardcost.analysis.finding import Failure, Score
from hardcost.cli import options, outlook, timing, typed
from hardcost.cli.console import note, progress
from hardcost.cli.finding import packed, present
from hardcost.cli.plan import show_plan
from hardcost.cli.waiting import until_done
from hardcost.controls.control import Kernel
from hardcost.design.factorial import start_order
from hardcost.errors import HardcostError, InputError, MachineError
from hardcost.instruments.names import instrument as instrument_named
from hardcost.profiles.kernel import kernelscore
from hardcost.schedule import side_by_side
from hardcost.store.record import Record
from hardcost.store.store import Store
from hardcost.trial.bootlines import BootLines, problems_of
from hardcost.trial.trial import PACKAGES_PARTED, prepare
from hardcost.workloads.names import WORKLOADS, check, resolutions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardcost.analysis.finding import Finding
    from hardcost.cli.options import Choices
    from hardcost.cli.timing import Stage
    from hardcost.design.plan import Plan
    from hardcost.machines.cache import Cache
    from hardcost.machines.machine import Boot
    from hardcost.machines.qemu.vm import VirtualMachine
    from hardcost.store.store import Run
    from hardcost.trial.trial import Prepared

    Measure = Callable[[Plan], tuple[Record, ...]]
    """Measures what a plan asks for in the same run."""

    FindingOf = Callable[[str, Sequence[Record], Measure], Finding]
    """Makes a finding of a run's name and records; machine and environment are filled in later."""

    Outcomes = dict[str, Record | HardcostError]
    """What came of trials, by their identity."""


_WORTH_TELLING = 10.0  # seconds that a run is expected to take, from which on that is said


@dataclass(frozen=True)
class Limits:
    """How many guests run at a time, and how many seconds a trial may take (None: as usual)."""

    jobs: int
    seconds: float | None


def carry_out(
    plan: Plan,
    chosen: Choices,
    finding_of: FindingOf,
    *,
    goes_on: bool = False,
    most: int | None = None,
) -> Finding | None:
    """Measure what `plan` asks for, save what `finding_of` makes of it, print it, and report.

    Where it `goes_on`, trials that fail are part of the finding; else the first ends the run.
    `most` is how many configurations a search measures at most, whose first ones are the plan's.
    Returns what was found, None after a dry run.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    check_workloads(plan)
    machine, remarks = options.machine(chosen, plan.instrument)
    prepared = list(get_ready(plan, machine))
    expected = outlook.stages(prepared, machine, chosen, most)
    if chosen.dry_run:
        show_plan(plan, prepared, expected, chosen.format)
        return None
    _tell(expected)
    limits = Limits(chosen.jobs, chosen.timeout or plan.timeout)
    lines = BootLines()
    with Store(chosen.store) as store:
        run = _run(plan, prepared, store, chosen)
        records, failures = _measured(
            run, prepared, machine, store, limits=limits, lines=lines, goes_on=goes_on
        )

        def measure_more(more: Plan) -> tuple[Record, ...]:
            ready = get_ready(more, machine)
            prepared.extend(ready)
            return _measured(run, ready, machine, store, limits=limits, lines=lines)[0]

        finding = finding_of(run.name, records, measure_more)
        finding = dataclasses.replace(
            finding,
            machine=machine.name,
            environment=environment_of(records),
            notes=(*remarks, *finding.notes, *lines.notes),
            scores=_scores(prepared, machine),
            failures=failures,
            command=typed.words(),
            folder=typed.folder(),
        )
        finding = cautioned(finding, lines.controls, lines.faults)
        finding = coarse(finding, resolutions())
        store.finish(run, packed(finding))
    report = chosen.report or chosen.store.parent / "reports" / f"{finding.run}.html"
    present(finding, chosen.format, report)
    return finding


def _scores(prepared: Sequence[Prepared], machine: VirtualMachine) -> dict[str, Score]:
    """Return how each kernel that was built does against the catalogue, by configuration."""
    kernels = {
        trial.trial.configuration.name: trial.boot.kernel
        for trial in prepared
        if trial.boot.kernel is not None
    }
    found = {}
    for name, recipe in kernels.items():
        score = kernelscore.score(machine.kernels.configuration(recipe))
        found[name] = Score(score.met, score.total)
    return found


def check_workloads(plan: Plan) -> None:
    """Check the parameters of a plan's workloads, before anything is fetched, built or booted.

    Raises:
        InputError: One is wrong under the plan's instrument.
    """
    instrument = instrument_named(plan.instrument)
    for one in dict.fromkeys(trial.workload for trial in plan.trials):
        check(one.name, dict(one.parameters), [instrument])


def announce_source(cache: Cache) -> None:
    """Say that Linux's source is fetched, where that is still to come."""
    if not any((cache.root / "sources").glob("*/Makefile")):
        note("fetching and unpacking Linux's source, 140 MB; this happens once …")


def get_ready(plan: Plan, machine: VirtualMachine) -> tuple[Prepared, ...]:
    """Fetch what the machine needs and work out every trial of the plan.

    Raises:
        InputError: A control, workload or kernel is not as it should be.
        MachineError: Something is missing on this host.
    """
    if not (machine.cache.root / "kernels").is_dir():
        note("fetching a kernel and the audit package; this happens once …")
    if any(
        isinstance(one, Kernel) for trial in plan.trials for one in trial.configuration.controls
    ):
        announce_source(machine.cache)
    if any(
        WORKLOADS[trial.workload.name].GUEST == "debian"
        for trial in plan.trials
        if trial.workload.name in WORKLOADS
    ):
        machine.roots.root(machine.cache)  # takes minutes, once, with a progress of its own
    prepared = []
    with progress(len(plan.trials), "trials worked out") as advance:
        for trial in start_order(plan):
            prepared.append(prepare(trial, machine))
            advance()
    return tuple(prepared)


def _measured(  # noqa: PLR0913  (the parts of a run meet here)
    run: Run,
    prepared: Sequence[Prepared],
    machine: VirtualMachine,
    store: Store,
    *,
    limits: Limits,
    lines: BootLines,
    goes_on: bool = False,
) -> tuple[tuple[Record, ...], tuple[Failure, ...]]:
    """Run the trials that are not in the store yet, save each as it ends.

    Returns the records in the trials' order, and what failed where the run `goes_on`.

    Raises:
        HardcostError: A trial failed, where the run does not go on, or all did; what was saved
            before stays.
    """
    asked = _asked(prepared, machine, lines, limits.jobs, goes_on=goes_on)
    refused = until_done(asked)
    known: Outcomes = {
        trial.identity: record
        for trial in prepared
        if (record := store.record(trial.identity, run if run.fresh else None)) is not None
    }
    known.update(refused)
    wanted = {one.identity: one for one in reversed(prepared) if one.identity not in known}
    missing = list(wanted.values())[::-1]  # the same state under two names is measured once
    for damage in store.damaged:
        note(f"{damage}; it is measured again")
    store.damaged.clear()
    if found := sum(isinstance(known.get(trial.identity), Record) for trial in prepared):
        note(f"{found} of {len(prepared)} trials are in the store already")
    if missing:
        measuring = _measure(
            run, missing, known, machine, store, limits=limits, lines=lines, goes_on=goes_on
        )
        until_done(measuring)
    came = [(trial, known[trial.identity]) for trial in prepared]
    errors = [(trial, one) for trial, one in came if isinstance(one, HardcostError)]
    if len(errors) == len(prepared) and errors:
        raise errors[0][1]
    records = tuple(
        one.model_copy(
            update={
                "configuration": trial.trial.configuration.name,
                "workload": str(trial.trial.workload),
            }
        )
        for trial, one in came
        if isinstance(one, Record)
    )
    return records, tuple(_failure(trial, error) for trial, error in errors)


def _failure(prepared: Prepared, error: HardcostError) -> Failure:
    trial = prepared.trial
    told = [f"{one.place}: {one.message}" if one.place else one.message for one in error.problems]
    return Failure(
        configuration=trial.configuration.name,
        workload=str(trial.workload),
        seed=trial.seed,
        repetition=trial.repetition,
        reason="; ".join(told),
        hint=error.problems[0].hint,
        log=error.console if isinstance(error, MachineError) else "",
    )


def environment_of(records: Sequence[Record]) -> dict[str, str]:
    """Return the environment of all records; where they differ, each value once."""
    keys = dict.fromkeys(key for record in records for key in record.environment)
    found = {}
    for key in keys:
        values = list(dict.fromkeys(record.environment.get(key, "") for record in records))
        found[key] = _packages(values) if key == "packages" else " and ".join(values)
    return found


def _packages(values: Sequence[str]) -> str:
    """Return the packages of several trials, each once."""
    every = {one for value in values if value for one in value.split(PACKAGES_PARTED)}
    return PACKAGES_PARTED.join(sorted(every))


def _tell(expected: Sequence[Stage]) -> None:
    """Say how long a run will take, unless that is but a moment."""
    span = timing.total(expected)
    if span.high is None or span.high >= _WORTH_TELLING:
        parts = [f"{one.name} ({timing.count(one)}): {timing.said(one.span)}" for one in expected]
        note(f"expected time: {timing.said(span)}; {', '.join(parts)}")


def _run(plan: Plan, prepared: Sequence[Prepared], store: Store, chosen: Choices) -> Run:
    identities = json.dumps([plan.study, *(trial.identity for trial in prepared)])
    digest = hashlib.sha256(identities.encode()).hexdigest()
    if chosen.resume:
        interrupted = store.unfinished(digest)
        if interrupted is not None:
            note(f"going on with {interrupted.name}")
            return interrupted
        note("no unfinished run of this plan: starting one")
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    name = f"{plan.study}-{stamp}-{secrets.token_hex(2)}"
    return store.start(name, digest, plan.study, fresh=chosen.fresh)


async def _measure(  # noqa: PLR0913  (the parts of a run meet here)
    run: Run,
    missing: Sequence[Prepared],
    known: Outcomes,
    machine: VirtualMachine,
    store: Store,
    *,
    limits: Limits,
    lines: BootLines,
    goes_on: bool,
) -> None:
    if await _build(missing, machine):
        known.update(await _asked(missing, machine, lines, limits.jobs, goes_on=goes_on))
    known_times, work = outlook.history(machine.cache, store), outlook.work_of(missing, machine)
    expected = {one.name: one.span.middle for one in timing.stages(work, known_times, limits.jobs)}
    unbootable = await _boot(
        _lacking(missing, machine),
        machine,
        limits.jobs,
        expected.get("boots"),
        goes_on=goes_on,
    )
    known.update({one.identity: unbootable[one.boot] for one in missing if one.boot in unbootable})
    bootable = [trial for trial in missing if trial.identity not in known]
    started, failed = time.monotonic(), len(missing) - len(bootable)
    with progress(len(bootable), "trials", expected.get("trials")) as advance:
        outcomes = side_by_side.outcomes(
            bootable, machine, jobs=limits.jobs, limit_seconds=limits.seconds, goes_on=goes_on
        )
        async for trial, came in outcomes:
            known[trial.identity] = came
            if isinstance(came, Record):
                store.save(run, came)
            else:
                failed += 1
                note(f"failed: {came}".splitlines()[0])
            advance()
    told = f", {failed} failed" if failed else ""
    note(f"{len(missing)} trials in {time.monotonic() - started:.1f} s{told}")


async def _asked(
    trials: Sequence[Prepared],
    machine: VirtualMachine,
    lines: BootLines,
    jobs: int,
    *,
    goes_on: bool,
) -> dict[str, InputError]:
    """Return the errors of trials with boot parameters that the guest's kernel does not take.

    Raises:
        InputError: There are such, and the run does not go on.
    """
    refused = await lines.ask(trials, machine, jobs)
    if refused and not goes_on:
        raise InputError.of(problems_of(refused.values()))
    for error in dict.fromkeys(map(str, refused.values())):
        note(f"failed: {error}")
    return dict(refused)


def _lacking(trials: Sequence[Prepared], machine: VirtualMachine) -> list[Boot]:
    """Return the boots that have no snapshot yet, or no kernel."""
    return [
        boot for boot in dict.fromkeys(trial.boot for trial in trials) if not machine.is_ready(boot)
    ]


async def _build(missing: Sequence[Prepared], machine: VirtualMachine) -> bool:
    """Build the kernels that are not built yet, and say whether there were any."""
    boots = [boot for boot in _lacking(missing, machine) if boot.kernel is not None]
    kernels = {machine.identity(boot)["kernel"]: boot for boot in boots}
    for number, boot in enumerate(kernels.values(), 1):
        note(f"building kernel {number} of {len(kernels)}; each is kept")
        await machine.make_ready(boot)
    return bool(kernels)


async def _boot(
    boots: Sequence[Boot],
    machine: VirtualMachine,
    jobs: int,
    expected: float | None,
    *,
    goes_on: bool,
) -> dict[Boot, MachineError]:
    """Boot a guest for each kernel line that has no snapshot yet, `jobs` at a time."""
    failed: dict[Boot, MachineError] = {}
    if not boots:
        return failed
    note(f"booting {len(boots)} guests for their snapshots; this happens once")
    free = asyncio.Semaphore(jobs)
    with progress(len(boots), "boots", expected) as advance:

        async def boot_one(boot: Boot) -> None:
            async with free:
                try:
                    await machine.make_ready(boot)
                except MachineError as error:
                    if not goes_on:
                        raise
                    failed[boot] = error
                    note(f"failed: {error}".splitlines()[0])
            advance()

        try:
            async with asyncio.TaskGroup() as group:
                for boot in boots:
                    group.create_task(boot_one(boot))
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None  # the others were stopped for it
    return failed
