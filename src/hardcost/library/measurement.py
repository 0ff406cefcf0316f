"""How a request is measured, and the start and end of a run, which all calls share."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from hardcost.controls.configuration import Setup
from hardcost.errors import InputError, Problem, RequestError, RequestProblem
from hardcost.instruments.insn import INSN
from hardcost.instruments.names import INSTRUMENTS, RECORDERS
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.time import TIME
from hardcost.library.interrupt import until_done
from hardcost.machines import names
from hardcost.machines.machine import Machine
from hardcost.machines.options import MachineOptions
from hardcost.measure.carry_out import Concurrency
from hardcost.measure.expected_time import Stage
from hardcost.measure.monitor import Monitor
from hardcost.measure.prepare import Prepared, check_workloads, prepare_all
from hardcost.measure.remaining_work import history, known_records, outlook
from hardcost.measure.run import Run, TrialResults
from hardcost.measure.workers.lab import Lab, need_dask
from hardcost.model.finding.finding import Finding
from hardcost.model.request import CheckedRequest
from hardcost.model.workload import Workload
from hardcost.plan.plan import Plan
from hardcost.profiles.control_tables import PackageRoot
from hardcost.protocol.boot import Init
from hardcost.store.location import default_path
from hardcost.store.record import Record
from hardcost.store.store import Store
from hardcost.study.read import workload_from_words
from hardcost.supply.emulators.names import is_hosts
from hardcost.supply.packages import debian, guest_release
from hardcost.units import join_in_prose
from hardcost.workloads.names import workload_named

# The request --------------------------------------------------------------------------------------

Start = Literal["snapshot", "cold"]


@dataclass(frozen=True, kw_only=True)
class Measuring(CheckedRequest):
    """How a request is measured; a field that is None leaves the choice to the study, or to us.

    `machine` is a name of `hardcost list machines`. `workloads` are what `workloads_of` returns for
    a text; profiles are measured on `syscalls` unless they say something else. `seeds` are memory
    layouts, `repetitions` how often each configuration is measured. `wanted` says what guests are
    made of. `jobs` guests run at a time, a trial at most `timeout` seconds. `start` is how each
    trial starts: from a snapshot of a booted guest, or with a cold boot. `init` starts a Debian
    guest's services, `record` names recorders.

    `fresh` measures everything again, `resume` continues the run that was interrupted. Results are
    kept in `store`. Trials run on the workers of `lab`, if there is one. `command` and `folder` are
    what a report says led to it: words of a command line, and where it was typed.
    """

    machine: str = "vm"
    instrument: str | None = None
    workloads: tuple[Workload, ...] | None = None
    seeds: tuple[int, ...] | None = None
    repetitions: int | None = None
    wanted: MachineOptions = field(default_factory=MachineOptions)
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))
    fresh: bool = False
    resume: bool = False
    timeout: float | None = None
    start: Start | None = None
    init: Init | None = None
    record: tuple[str, ...] | None = None
    store: str | Path = field(default_factory=default_path)
    lab: Lab | None = None
    command: tuple[str, ...] = ()
    folder: str = ""

    def check(self) -> None:
        """Check that the choices go together, and that there is such a machine.

        Raises:
            InputError: A value is none of its field, two choices contradict each other, or there
                is no such machine.
            MachineError: The machine lacks something on this host.
        """
        if self.fresh and self.resume:
            raise RequestError(
                "`fresh` starts a new run and `resume` continues one: use one of them"
            )
        if self.wanted.image and self.wanted.rootfs:
            raise RequestError("`image` and `rootfs` each name the guest's root: take one of them")
        if self.lab is not None and not is_hosts(self.wanted.qemu):
            raise RequestError(
                "`qemu`: workers run guests under their own hosts' QEMU",
                hint="leave it out, or measure without workers",
            )
        several = self.wanted.processors > 1
        if several != (self.instrument == PARALLEL.name):
            raise RequestError(
                f"`processors` above 1 and the instrument {PARALLEL.name} belong together",
                hint="give both, or neither",
            )
        if several and self.lab is not None:
            raise RequestError(
                "`processors`: workers measure on one",
                hint="leave it out, or measure without workers",
            )
        problems = tuple(self._wrong_values())
        if problems:
            raise InputError.of(problems)
        if "," in self.machine:
            raise RequestError(
                "`machine` names several machines, and a call measures on one",
                hint="call it once for each; the command `hardcost run` does so for a study",
            )
        names.check(self.machine, self.wanted)

    def _wrong_values(self) -> Iterator[RequestProblem]:
        """Yield the problems of single fields."""
        if self.instrument is not None and self.instrument not in INSTRUMENTS:
            yield RequestProblem(
                f"`instrument`: there is no '{self.instrument}'",
                hint=f"there are {join_in_prose(INSTRUMENTS)}",
            )
        yield from _unknown_recorders(self.record or ())
        for name, number in (("jobs", self.jobs), ("repetitions", self.repetitions)):
            if number is not None and number < 1:
                yield RequestProblem(f"`{name}`: {number} is less than 1")
        if self.seeds is not None and not self.seeds:
            yield RequestProblem(
                "`seeds`: there is no seed", hint="None measures under one fixed layout"
            )
        if self.timeout is not None and not self.timeout > 0:
            yield RequestProblem(f"`timeout`: {self.timeout:g} is no number of seconds above 0")

    @property
    def kept_in(self) -> Path:
        """The file in which results are kept."""
        return Path(self.store)

    @property
    def package_root(self) -> PackageRoot:
        """The function that finds profiles' Debian packages: of the release of the guests.

        Raises:
            InputError: There is no such release.
        """
        release = guest_release.codename(self.wanted.guest)
        return partial(debian.package_root, release=release)

    @property
    def running(self) -> bool:
        """Whether the machine runs already, so that hardcost does not boot it."""
        return names.is_running(self.machine)

    @property
    def measured_by(self) -> str:
        """The instrument of a bill: the one chosen, or else the machine's usual one."""
        return self.instrument or usual_instrument(self.machine)

    @property
    def workloads_of_profile(self) -> tuple[Workload, ...]:
        """The workloads for a profile: those chosen, or else `syscalls`."""
        return self.workloads or (Workload("syscalls"),)

    @property
    def cold(self) -> bool | None:
        """Whether each trial starts with a cold boot; None leaves it to the study."""
        return None if self.start is None else self.start == "cold"

    @property
    def setup(self) -> Setup:
        """How guests are started where no study says it."""
        return Setup(self.cold or False, self.init or "probe", self.record or ())

    def counting(self) -> Measuring:
        """Return how instructions are counted, in guests, beside a running machine's times."""
        return replace(
            self,
            machine=names.counter(self.machine),
            instrument=INSN.name,
            seeds=None,
            repetitions=None,
            wanted=MachineOptions(),
            lab=None,
        )


def usual_instrument(machine: str) -> str:
    """Return the instrument of a bill that names none."""
    return TIME.name if names.is_running(machine) else INSN.name


def workloads_of(text: str, instrument: str | None = None) -> tuple[Workload, ...]:
    """Return the workloads in text such as `build,syscalls calls=null+open`.

    Their values have to be right under `instrument`, or under any if it is None.

    Raises:
        InputError: There is no such workload or parameter, a word is not KEY=VALUE, a value is
            wrong, or a workload is named twice.
    """
    found: list[Workload] = []
    problems: list[Problem] = []
    for one in text.split(","):
        try:
            read = workload_from_words(one, instrument)
        except InputError as error:
            problems += error.problems
            continue
        if read in found:
            hint = "it is measured once: leave one of them out"
            problems.append(Problem(f"'{read}' is named twice", hint=hint))
        found.append(read)
    if problems:
        raise InputError.of(
            tuple(
                RequestProblem(f"`workloads`: {one.message}", one.place, one.hint)
                for one in problems
            )
        )
    return tuple(found)


def recorders(text: str) -> tuple[str, ...]:
    """Return the recorders in text such as `cpu,avc`; none if it is empty.

    Raises:
        InputError: There is none of a name.
    """
    found = tuple(dict.fromkeys(filter(None, text.split(","))))
    problems = tuple(_unknown_recorders(found))
    if problems:
        raise InputError.of(problems)
    return found


def _unknown_recorders(recorders: Sequence[str]) -> Iterator[RequestProblem]:
    for name in recorders:
        if name not in RECORDERS:
            hint = f"the recorders are {', '.join(RECORDERS)}"
            yield RequestProblem(f"`record`: there is no recorder '{name}'", hint=hint)


# A run --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Foreseen:
    """A plan that is not carried out: its trials, and how long they are expected to take."""

    plan: Plan
    prepared: tuple[Prepared, ...]
    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class PlannedRun:
    """A plan on the machine where it is to be measured, and the monitor that hears of it.

    `most` is how many configurations a search measures at most, whose first ones are the plan's.
    """

    plan: Plan
    how: Measuring
    machine: Machine
    monitor: Monitor
    most: int | None = None

    @classmethod
    def of(cls, plan: Plan, how: Measuring, monitor: Monitor) -> PlannedRun:
        """Find the machine on which a plan is to be measured.

        Raises:
            InputError: A workload of the plan is wrong.
            MachineError: It can't measure so.
        """
        check_workloads(plan)
        exact = INSTRUMENTS[plan.instrument].exact
        wanted = replace(how.wanted, instrument=plan.instrument, exact=exact)
        return cls(plan, how, until_done(names.make(how.machine, wanted, monitor)), monitor)

    def prepare_trials(self) -> tuple[Prepared, ...]:
        """Return the trials as they would run.

        Raises:
            HardcostError: The machine can't do what one asks for.
        """
        return tuple(prepare_all(self.plan, self.machine, self.monitor))

    def preview(self) -> Foreseen:
        """Return the plan of the run; a missing store is not made.

        Raises:
            HardcostError: Something is wrong with the input, the machine or the store.
        """
        prepared, how = self.prepare_trials(), self.how
        with contextlib.ExitStack() as opened:
            store = None
            if how.kept_in.exists():
                store = opened.enter_context(Store(how.kept_in, read_only=True))
            known = known_records(prepared, None if how.fresh else store)
            earlier = history(self.machine, store)
        expected = outlook(
            prepared, known, self.machine, earlier, jobs=how.jobs, most=self.most
        ).stages
        return Foreseen(self.plan, prepared, expected)

    @contextlib.contextmanager
    def begin_run(self, prepared: Sequence[Prepared] | None = None) -> Iterator[Run]:
        """Begin a run of the plan, whose trials may have been `prepared` before.

        Raises:
            HardcostError: Something is wrong with the input, the machine or the store.
        """
        how = self.how
        if prepared is None:
            prepared = self.prepare_trials()
        with self._where_trials_run() as where, Store(how.kept_in) as store:
            yield Run.of(
                self.plan,
                prepared,
                where,
                store,
                self.monitor,
                limits=Concurrency(how.jobs, how.timeout or self.plan.timeout),
                wait=until_done,
                fresh=how.fresh,
                resume=how.resume,
                most=self.most,
            )

    @contextlib.contextmanager
    def _where_trials_run(self) -> Iterator[Machine]:
        """Give the machine itself, or the same one with its trials on workers."""
        if self.how.lab is None:
            yield self.machine
            return
        need_dask()
        from hardcost.measure.workers.machine import spread_trials  # noqa: PLC0415  (Dask)

        instrument, lab = self.plan.instrument, self.how.lab
        with spread_trials(self.machine, lab, instrument, self.monitor, until_done) as where:
            yield where


_Finding = TypeVar("_Finding", bound=Finding)


def finish_run(run: Run, finding: _Finding, measured: TrialResults, how: Measuring) -> _Finding:
    """Save a run's finding with its command and the facts of `measured`, and return all of it."""
    whole = dataclasses.replace(finding, command=how.command, folder=how.folder)
    return run.finish(whole, measured)


def notes_of(records: Sequence[Record]) -> tuple[str, ...]:
    """Return the notes on these trials, each once."""
    remarks = [note for record in records for note in record.notes]
    metrics = [(record, metric) for record in records for metric in record.measured]
    remarks += [
        f"{record.role}: audit lost {metric.lost} events during {metric.metric}"
        for record, metric in metrics
        if metric.lost
    ]
    workloads = [workload_named(record.workload.name) for record in records]
    remarks += [one.settings for one in workloads if one.settings]
    remarks += [
        workload_named(record.workload.name).audit_note
        for record, metric in metrics
        if metric.fired
    ]
    return tuple(dict.fromkeys(remarks))
