"""A run: one execution of a plan, from its trials to its finding, saved as it goes."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
from collections.abc import Collection, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol, Self, TypeVar

from hardcost.analysis import finding_text
from hardcost.analysis.whole_finding import RunFacts, complete
from hardcost.errors import HardcostError, MachineError, StoreError
from hardcost.machines.machine import Machine
from hardcost.measure.carry_out import Concurrency, TrialSite, carry_out, refused_trials
from hardcost.measure.execute import PACKAGE_SEPARATOR
from hardcost.measure.monitor import Expected, Monitor
from hardcost.measure.prepare import Prepared, prepare_all
from hardcost.measure.remaining_work import Outlook, history, known_records, outlook
from hardcost.model.finding.failure import Failure
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.head import Score
from hardcost.model.role import PlaceboRole, Role
from hardcost.plan.plan import Plan
from hardcost.profiles.kernel.score import score_of
from hardcost.store import run_name
from hardcost.store.record import Record
from hardcost.store.store import Store, StoredRun
from hardcost.units import count
from hardcost.workloads.names import resolutions

Outcomes = dict[str, Record | HardcostError]
"""The results of trials, by their identity."""

_Result = TypeVar("_Result")
_Finding = TypeVar("_Finding", bound=Finding)


class Wait(Protocol):
    """Runs work to its end and returns its result, as `asyncio.run` does."""

    def __call__(self, work: Coroutine[Any, Any, _Result], /) -> _Result:
        """Run it; a signal that comes meanwhile may cancel it."""
        ...


@dataclass(frozen=True)
class TrialResults:
    """The records of a plan's trials, in their order, and what failed where the run kept going."""

    records: tuple[Record, ...]
    failures: tuple[Failure, ...] = ()


class Run:
    """One execution of a plan.

    `measure` measures the plan, `measure_plan` as many others as it takes; `finish` saves what was
    found.
    What was measured before is taken from the store, and every trial is saved as it ends.
    """

    @classmethod
    def of(  # noqa: PLR0913  (the parts of a run meet here)
        cls,
        plan: Plan,
        prepared: Sequence[Prepared],
        machine: Machine,
        store: Store,
        monitor: Monitor,
        *,
        limits: Concurrency,
        wait: Wait = asyncio.run,
        fresh: bool = False,
        resume: bool = False,
        most: int | None = None,
    ) -> Self:
        """Begin a run of a plan whose trials are `prepared`, and say how long it will take.

        `fresh`: nothing of earlier runs is taken from the store. `resume`: the newest run of the
        same plan that was interrupted continues. `most` is how many configurations a search
        measures at most, whose first ones are the plan's.

        Raises:
            StoreError: The store can't be read or written, or another process has that run.
        """
        entry = _entry(plan, prepared, store, monitor, fresh=fresh, resume=resume)
        earlier = history(machine, store)
        known = known_records(prepared, store, entry)
        first = outlook(prepared, known, machine, earlier, jobs=limits.jobs, most=most)
        monitor.hear(Expected(first.stages))
        return cls(TrialSite(machine, monitor, limits), store, entry, first, wait)

    def __init__(
        self, site: TrialSite, store: Store, entry: StoredRun, first: Outlook, wait: Wait
    ) -> None:
        """Hold what `of` has put together; `first` is what the run begins with."""
        self.monitor = site.monitor
        self._site = site
        self._store = store
        self._entry = entry
        self._first = first
        self._wait = wait
        self._prepared: list[Prepared] = list(first.prepared)
        self._unchecked = 0  # trials taken from the store that have no digest there

    @property
    def name(self) -> str:
        """The run's name in the store."""
        return self._entry.name

    @property
    def machine(self) -> Machine:
        """Where its trials run."""
        return self._site.machine

    def measure(self, *, keep_going: bool = False) -> TrialResults:
        """Measure what the run's own plan asks for and the store does not have.

        With `keep_going`, trials that fail are part of what comes back; else the first ends the
        run.

        Raises:
            HardcostError: A trial failed, where the run does not keep going, or all did; what was
                saved before stays.
        """
        return self._carry_out_missing(self._first, keep_going=keep_going)

    def measure_plan(self, plan: Plan, *, keep_going: bool = False) -> TrialResults:
        """Measure what another plan asks for, in the same run.

        Raises:
            HardcostError: As of `measure`.
        """
        return self._carry_out_missing(self._prepare_plan(plan), keep_going=keep_going)

    def finish(self, finding: _Finding, measured: TrialResults) -> _Finding:
        """Save a finding that is made whole with what the run knows beside its records.

        Of all that the run measured, only `measured` gives it its environment and its failures.
        """
        site, trials = self._site, [one.trial for one in self._prepared]
        facts = RunFacts(
            machine=site.machine.name,
            environment=environment_of(measured.records),
            configurations={one.configuration.role: one.configuration.controls for one in trials},
            resolutions=resolutions(),
            notes_before=site.machine.remarks,
            notes_after=(*site.lines.notes, *_unchecked_notes(self._unchecked)),
            boot_controls=site.lines.controls,
            faults=site.lines.faults,
            scores=self._scores(),
            failures=measured.failures,
        )
        whole = complete(finding, facts)
        self._store.finish(self._entry, finding_text.finding_to_text(whole))
        return whole

    def earlier_findings(self, beginnings: tuple[str, ...]) -> Iterator[Finding]:
        """Yield what earlier runs found whose names begin so, the newest first.

        Those since the first run of the same plan are left out, so that each run of a plan starts
        from the same. A damaged one is left out, and a run that measures all again knows none.
        """
        if self._entry.fresh:
            return
        done = [one for one in self._store.runs() if one.finished is not None]
        same = [at for at, one in enumerate(done) if one.plan == self._entry.plan]
        for one in done[same[-1] + 1 if same else 0 :]:
            if one.name.startswith(beginnings):
                with contextlib.suppress(StoreError):
                    yield finding_text.finding_from_text(self._store.finding(one.name)[1])

    def _prepare_plan(self, plan: Plan) -> Outlook:
        machine, limits = self._site.machine, self._site.limits
        prepared = prepare_all(plan, machine, self.monitor)
        self._prepared += prepared
        known = known_records(prepared, self._store, self._entry)
        return outlook(prepared, known, machine, history(machine, self._store), jobs=limits.jobs)

    def _carry_out_missing(self, todo: Outlook, *, keep_going: bool) -> TrialResults:
        refused = self._wait(refused_trials(todo.prepared, self._site, keep_going=keep_going))
        came: Outcomes = {**todo.known, **refused}
        self._say_what_is_known(todo, came)
        missing = [one for one in todo.missing if one.identity not in came]
        if missing:
            came |= self._wait(self._carry_out_and_save(missing, todo, keep_going=keep_going))
        return _results_of_trials(todo.prepared, came)

    def _say_what_is_known(self, todo: Outlook, came: Mapping[str, object]) -> None:
        for damage in self._store.damaged:
            self.monitor.note(f"{damage}; it is measured again")
        self._store.damaged.clear()
        self._unchecked += self._store.unchecked
        self._store.unchecked = 0
        if found := sum(isinstance(came.get(one.identity), Record) for one in todo.prepared):
            were = "was measured earlier and is" if found == 1 else "were measured earlier and are"
            asked = count(len(todo.prepared), "trial")
            self.monitor.note(f"{found} of {asked} {were} reused")

    async def _carry_out_and_save(
        self, missing: Sequence[Prepared], todo: Outlook, *, keep_going: bool
    ) -> Outcomes:
        """Carry out trials, save each record as its trial ends, and return the results of all."""
        came: Outcomes = {}
        running = carry_out(missing, self._site, todo, keep_going=keep_going)
        async with contextlib.aclosing(running):
            async for trial, one in running:
                came[trial.identity] = one
                if isinstance(one, Record):
                    self._store.save(self._entry, one)
        return came

    def _scores(self) -> dict[Role, Score]:
        """Return how each kernel that was built does against the catalogue, by configuration."""
        boots = {
            one.trial.configuration.role: one.boot
            for one in self._prepared
            if one.boot.kernel is not None
            and not isinstance(one.trial.configuration.role, PlaceboRole)
        }
        scores: dict[Role, Score] = {}
        for role, boot in boots.items():
            configuration = self._site.machine.configuration(boot)
            if configuration is not None:
                score = score_of(configuration)
                scores[role] = Score(score.met, score.total)
        return scores


def _unchecked_notes(trials: int) -> tuple[str, ...]:
    """Return the note on so many trials that were reused without a digest."""
    if not trials:
        return ()
    were = "was" if trials == 1 else "were"
    said = (
        f"{count(trials, 'trial')} {were} saved by an older hardcost without a digest, and"
        " can't be checked: --fresh measures everything again"
    )
    return (said,)


def environment_of(records: Sequence[Record]) -> dict[str, str]:
    """Return the environment of all records; where they differ, each value once."""
    keys = dict.fromkeys(key for record in records for key in record.environment)
    found = {}
    for key in keys:
        values = list(dict.fromkeys(filter(None, (one.environment.get(key) for one in records))))
        found[key] = _packages(values) if key == "packages" else " and ".join(values)
    return found


def _packages(values: Sequence[str]) -> str:
    """Return the packages of several trials, each once."""
    every = {one for value in values if value for one in value.split(PACKAGE_SEPARATOR)}
    return PACKAGE_SEPARATOR.join(sorted(every))


def _entry(  # noqa: PLR0913  (a row of the store, and how it came about)
    plan: Plan,
    prepared: Sequence[Prepared],
    store: Store,
    monitor: Monitor,
    *,
    fresh: bool,
    resume: bool,
) -> StoredRun:
    """Return a new run in the store, or the one of the same plan that was interrupted."""
    # A run continues only if all that it would measure is the same.
    identities = json.dumps([plan.study, *(trial.identity for trial in prepared)])
    digest = hashlib.sha256(identities.encode()).hexdigest()
    if resume:
        interrupted = store.take_unfinished(digest)
        for lost in store.lost:
            monitor.note(f"not continued: {lost}")
        if interrupted is not None:
            monitor.note(f"continuing {interrupted.name}")
            return interrupted
        monitor.note("no unfinished run of this plan: starting one")
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    # The digits keep runs apart that begin within a second.
    name = run_name.make_name(plan.study, f"{stamp}-{secrets.token_hex(2)}")
    return store.start(name, digest, plan.study, fresh=fresh)


def _results_of_trials(
    prepared: Sequence[Prepared], came: Mapping[str, Record | HardcostError]
) -> TrialResults:
    """Return the results of trials, under the names that were asked for."""
    each = [(trial, came[trial.identity]) for trial in prepared]
    errors = [(trial, one) for trial, one in each if isinstance(one, HardcostError)]
    if len(errors) == len(prepared) and errors:
        raise errors[0][1]
    # The store knows a record by what was done; here it has the names of this plan.
    records = tuple(
        one.model_copy(
            update={
                "role": trial.trial.configuration.role,
                "workload": trial.trial.workload,
            }
        )
        for trial, one in each
        if isinstance(one, Record)
    )
    failed = {trial.trial.configuration.role for trial, _ in errors}
    reported = [(trial, error) for trial, error in errors if _says_something(trial, failed)]
    return TrialResults(records, tuple(_failure(trial, error) for trial, error in reported))


def _says_something(trial: Prepared, failed: Collection[Role]) -> bool:
    """Return whether a failure is news: a placebo fails wherever what it is added to does."""
    role = trial.trial.configuration.role
    return not (isinstance(role, PlaceboRole) and role.of in failed)


def _failure(prepared: Prepared, error: HardcostError) -> Failure:
    trial = prepared.trial
    said = [f"{one.place}: {one.message}" if one.place else one.message for one in error.problems]
    return Failure(
        configuration=trial.configuration.role,
        workload=trial.workload,
        seed=trial.seed,
        repetition=trial.repetition,
        reason="; ".join(said),
        hint=error.problems[0].hint,
        log=error.console if isinstance(error, MachineError) else "",
    )
