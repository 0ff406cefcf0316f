"""A study: its configurations, measured and compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from pathlib import Path

from hardcost.analysis.calls.hotspots import hotspots_of
from hardcost.analysis.estimates.estimates import cells
from hardcost.analysis.estimates.resolution import allowing_for_chance
from hardcost.analysis.study.published import published_figures
from hardcost.controls.configuration import Configuration
from hardcost.library import precision
from hardcost.library.hotspots import check_watched
from hardcost.library.measurement import Foreseen, Measuring, PlannedRun, finish_run, notes_of
from hardcost.measure.monitor import Monitor, Silent
from hardcost.measure.precision import FEWEST_ROUNDS, Aim
from hardcost.model.finding.calls import Hotspots
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.observation import seen_in
from hardcost.model.finding.study import StudyFinding
from hardcost.model.request import CheckedRequest
from hardcost.model.role import PlaceboRole
from hardcost.plan import factorial
from hardcost.plan.plan import Plan
from hardcost.profiles.settings import Settings
from hardcost.store.record import Record
from hardcost.study.model import Study
from hardcost.study.read import read, scale_of_processors
from hardcost.units import join_in_prose


@dataclass(frozen=True)
class RunRequest(CheckedRequest):
    """A request to run a study: the name of a ready-made one, a TOML file, or a study as a value.

    `scale` is another size that it defines. Each word of `boot` is added to the kernel's command
    line in every configuration. With `hotspots`, instructions are also counted by function.
    `precision` is half the width of each ratio's confidence interval, a share, for which trials of
    times are added for at most `time_limit` seconds.
    """

    study: str | Path | Study
    _: KW_ONLY
    scale: str | None = None
    boot: tuple[str, ...] = ()
    hotspots: bool = False
    precision: float | None = None
    time_limit: float | None = None
    how: Measuring = field(default_factory=Measuring)


def run(request: RunRequest, monitor: Monitor | None = None) -> StudyFinding:
    """Run a study; return its finding, which is saved, with the trials that failed.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    RunRequest.expect(request)
    return _Asked(request, monitor or Silent()).finding()


def preview(request: RunRequest, monitor: Monitor | None = None) -> Foreseen:
    """Return the plan of a study that is not run.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    return _Asked(request, monitor or Silent()).plan_run().preview()


def planned(request: RunRequest, monitor: Monitor) -> PlannedRun:
    """Return a study's plan on the machine where it is to be measured.

    Raises:
        HardcostError: The request is wrong, or the machine can't measure so.
    """
    return _Asked(request, monitor).plan_run()


@dataclass(frozen=True)
class _Asked:
    """A study that is to be run."""

    request: RunRequest
    monitor: Monitor

    def plan_run(self) -> PlannedRun:
        """Find the machine, and return the study's plan as the user wants it measured there.

        Raises:
            HardcostError: The request is wrong, or the machine can't measure so.
        """
        request, how = self.request, self.request.how
        how.check()
        repetitions = how.repetitions
        if self._aim is not None:
            repetitions = max(how.repetitions or 0, FEWEST_ROUNDS)
        plan = self._plan(repetitions)
        precision.check_inexact(self._aim, plan.instrument)
        if request.hotspots:
            workloads = tuple(dict.fromkeys(trial.workload for trial in plan.trials))
            check_watched(plan.instrument, plan.setup.record, workloads)
            plan = plan.set_up(replace(plan.setup, by_function=True))
        if plan.published is not None:
            published_figures(
                plan.published
            )  # reports that there are none before anything is measured
        return PlannedRun.of(plan, how, self.monitor)

    def finding(self) -> StudyFinding:
        """Run the study, and save its finding."""
        planned, request = self.plan_run(), self.request
        with planned.begin_run() as run:
            first = run.measure(keep_going=True)
            done = precision.measure_to_aim(planned.plan, run, self._aim, self._plan, first)
            found = _finding(done.plan, run.name, done.records, self._scale)
            notes = (*found.notes, *done.notes)
            return finish_run(run, replace(found, notes=notes), first, request.how)

    @cached_property
    def _scale(self) -> str | None:
        """The study's size: the one chosen, else that for the processors."""
        request, processors = self.request, self.request.how.wanted.processors
        if request.scale is not None or processors == 1 or isinstance(request.study, Study):
            return request.scale
        return scale_of_processors(str(request.study), processors)

    @cached_property
    def _study(self) -> Study:
        """The study, read if it is a file's."""
        named, how = self.request.study, self.request.how
        if isinstance(named, Study):
            return named
        measured_by = how.instrument if how.workloads is None else None
        return read(str(named), how.package_root, self._scale, measured_by)

    @cached_property
    def _aim(self) -> Aim | None:
        return precision.aim(self.request.precision, self.request.time_limit)

    def _plan(self, repetitions: int | None) -> Plan:
        """Return the trials of the study, in so many rounds."""
        how = self.request.how
        return factorial.plan(
            with_boot(self._study, self.request.boot),
            factorial.Overrides(
                workloads=how.workloads,
                instrument=how.instrument,
                seeds=how.seeds,
                repetitions=repetitions,
                fresh=how.cold,
                init=how.init,
                record=how.record,
            ),
            placebos=True,
        )


def with_boot(study: Study, words: Sequence[str]) -> Study:
    """Return a study with words added to the kernel's command line of each configuration.

    Raises:
        InputError: One is no single word; all such are reported at once.
    """
    added = Settings(boots=tuple(dict.fromkeys(words))).controls().controls
    if not added:
        return study
    return replace(
        study,
        configurations=tuple(
            replace(one, controls=(*one.controls, *(it for it in added if it not in one.controls)))
            for one in study.configurations
        ),
        notes=(*study.notes, f"in each configuration: {join_in_prose(one.name for one in added)}"),
    )


def _finding(plan: Plan, run: str, records: Sequence[Record], scale: str | None) -> StudyFinding:
    found = allowing_for_chance(cells(plan, records), records)
    return StudyFinding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=found,
        notes=(*plan.notes, *notes_on_turns(found), *notes_of(records)),
        levels={one.role: one.levels for one in _compared_configurations(plan)},
        source=plan.published,
        successive=plan.successive,
        asked=plan.asked,
        about=plan.about,
        scale=scale,
        hotspots=tuple(_hotspots(plan, records)),
        observed=tuple(
            seen_in(record.role, record.workload, record.seed, record.repetition, seen)
            for record in records
            if not isinstance(record.role, PlaceboRole)
            for seen in record.observed
        ),
    )


def notes_on_turns(cells: Sequence[Cell]) -> Iterator[str]:
    """Yield a note on each number that the turns of processors decide."""
    for cell in cells:
        if cell.by_turns is not None:
            by = f"{100 * cell.by_turns:+.1f} %"
            yield (
                f"{cell.configuration}, {cell.workload}: how long turns are decides {cell.metric}"
                f" ({by} where they are ten times as long): believe its size, not its digits"
            )


def _compared_configurations(plan: Plan) -> list[Configuration]:
    """Return the configurations that the study compares: all but the placebos."""
    return [one for one in plan.configurations if not isinstance(one.role, PlaceboRole)]


def _hotspots(plan: Plan, records: Sequence[Record]) -> Iterator[Hotspots]:
    """Yield where the cost of each configuration arises, if it was watched."""
    if any(record.calls for record in records):
        measured = {record.role for record in records}
        for configuration in _compared_configurations(plan):
            baseline = plan.baseline_of(configuration)
            if configuration.role != baseline and {configuration.role, baseline} <= measured:
                yield from hotspots_of(records, baseline, configuration.role)
