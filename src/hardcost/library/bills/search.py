"""A bill by group testing: the search asks, a run answers, until the culprits are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from hardcost.analysis.bill.accounting import with_accounting
from hardcost.analysis.bill.culprits import chance_of, guide_name, itemise, story_of
from hardcost.analysis.bill.significance import drop_indistinguishable
from hardcost.analysis.estimates.estimates import cells
from hardcost.controls.control import Control, Profile
from hardcost.errors import HardcostError, InputError, RequestError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.names import instrument_named
from hardcost.library.bills.defaults import with_defaults
from hardcost.library.bills.single import baseline_note
from hardcost.library.bills.weights import Ranking
from hardcost.library.measurement import Foreseen, Measuring, PlannedRun, finish_run, notes_of
from hardcost.measure.control_failures import refused_setting
from hardcost.measure.monitor import Failed, Monitor
from hardcost.measure.prepare import boot_of, check_able
from hardcost.measure.run import Run, TrialResults
from hardcost.measure.search import Search
from hardcost.mechanisms.facts import overruled_controls
from hardcost.mechanisms.kconfig import KernelOption, recipe_of
from hardcost.model.finding.bill import Bill, Story, Unmeasured
from hardcost.model.role import Idle, PlaceboRole, Whole
from hardcost.model.workload import Workload
from hardcost.plan import placebo
from hardcost.plan.baseline import baseline_in_words
from hardcost.plan.plan import Plan
from hardcost.plan.search import culprits
from hardcost.plan.search.culprits import Suspects
from hardcost.plan.search.group_testing import configurations_bound, statement
from hardcost.plan.search.questions import SearchResult, SearchSettings
from hardcost.profiles.kernel import options
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.store.record import Record

MOST_KERNELS = 12
"""Configurations of a search that builds kernels, unless the user allows more."""

_FORESEEN_CULPRITS = 3  # so many as the search's own statement speaks of

_USUAL_NOISE = 0.02  # relative, of an instrument that is not exact; the search finds its own


@dataclass(frozen=True)
class BySearch:
    """A bill by search that is to be measured.

    `resolution` is the least cost that matters, as a share of the baseline; at most `most`
    configurations are measured.
    """

    profile: Profile
    workloads: Sequence[Workload]
    how: Measuring
    resolution: float
    most: int | None
    ranking: Ranking
    monitor: Monitor

    def preview(self) -> Foreseen:
        """Return what would be measured: the first configurations, and how many more at most."""
        asked, said, settings = self._begin()
        plan = replace(asked.plan, notes=(*asked.plan.notes, said))
        return self._plan_run(plan, asked, settings).preview()

    def bill(self) -> Bill:
        """Search for what is to blame for the profile's cost, and save the bill.

        Raises:
            HardcostError: Something is wrong with the input, the machine, a trial or the store.
        """
        asked, said, settings = self._begin()
        with self._plan_run(asked.plan, asked, settings).begin_run() as run:
            if self.how.running:  # nothing is tried out on a machine that is in use
                begun = _Begun(asked, run.measure())
            else:
                begun = _begin_search(asked, run, self._asked_of)
            asked, found = begun.asked, begun.asked.found
            first = begun.measured.records
            searched = Search(run, asked.plan, found, first)
            outcome = searched.outcome(_raise_above_chance(settings, first, self.monitor))
            named_by = guide_name(first)
            story = story_of(found.problem.names, outcome, said, named_by)
            finding = _finding(asked, run.name, outcome, searched.records, story, self.ranking)
            finding = replace(finding, unmeasured=begun.unmeasured)
            return finish_run(run, finding, begun.measured, self.how)

    def _begin(self) -> tuple[_Asked, str, SearchSettings]:
        """Return the search's task, the statement of what it does at most, and its settings."""
        if self.how.repetitions is not None:
            raise RequestError(
                "a search decides itself how often it measures",
                hint="leave `repetitions` out, or take `method` single",
            )
        asked = self._asked_of(self.profile, self._machine_to_ask())
        settings = self._settings(asked.found)
        said = statement(asked.found.problem, settings)
        self.monitor.note(said)
        return asked, said, settings

    def _plan_run(self, plan: Plan, asked: _Asked, settings: SearchSettings) -> PlannedRun:
        most = most_configurations(asked.found, settings)
        on = asked.on or PlannedRun.of(plan, self.how, self.monitor)
        return replace(on, plan=plan, most=most)

    def _asked_of(self, billed: Profile, on: PlannedRun | None) -> _Asked:
        kept, found = _suspects(billed, on)
        return _Asked(kept, found, self._first_plan(kept, found), on)

    def _machine_to_ask(self) -> PlannedRun | None:
        """Return the machine to be asked about kernel options, None where there are none."""
        recipe = recipe_of(self.profile.controls)
        if recipe is None or not recipe.options:
            return None
        everything = culprits.suspects(self.profile, group_of=_group_of)
        plan = self._first_plan(self.profile, everything)
        on = PlannedRun.of(plan, self.how, self.monitor)
        check_able(map(boot_of, plan.trials), plan.instrument, on.machine)
        return on

    def _settings(self, found: Suspects) -> SearchSettings:
        """Return how the search goes: of kernels that are built it measures fewer."""
        builds = any(one.builds for one in found.switched)
        return SearchSettings(
            threshold=self.resolution,
            most=self.most or (MOST_KERNELS if builds else None),
            noise=None if self._instrument.exact else _USUAL_NOISE,
        )

    def _first_plan(self, profile: Profile, found: Suspects) -> Plan:
        """Return what is measured before the search asks: the baseline, the whole, and placebos."""
        controls = (*found.fixed, *found.switched)
        exact = self._instrument.exact
        return culprits.first_plan(
            profile,
            found,
            self.workloads,
            instrument=self._instrument.name,
            seeds=self.how.seeds,
            placebos=placebo.affordable_placebos(controls, self.workloads) if exact else 0,
        ).set_up(self.how.setup)

    @property
    def _instrument(self) -> Instrument:
        return instrument_named(self.how.measured_by)


@dataclass(frozen=True)
class _Asked:
    """The task of a search: which of a profile's controls may be switched, and its first plan.

    `on` is the machine that was asked about kernel options, None if there are none.
    """

    profile: Profile
    found: Suspects
    plan: Plan
    on: PlannedRun | None


@dataclass(frozen=True)
class _Begun:
    """What a search begins with: its first trials, without the settings that were refused."""

    asked: _Asked
    measured: TrialResults
    unmeasured: tuple[Unmeasured, ...] = ()


def _begin_search(
    asked: _Asked, run: Run, again: Callable[[Profile, PlannedRun | None], _Asked]
) -> _Begun:
    """Measure what a search begins with, without the settings that the guest's kernel refuses."""
    lost: list[Unmeasured] = []
    while True:
        try:
            measured = run.measure_plan(asked.plan) if lost else run.measure()
        except HardcostError as error:
            refused = refused_setting(asked.profile, error)
            if refused is None:
                raise
            profile, unmeasured = refused
            lost.append(unmeasured)
            run.monitor.hear(Failed(f"{unmeasured.named} is not measured: {unmeasured.reason}"))
            asked = again(profile, asked.on)
        else:
            return _Begun(asked, measured, tuple(lost))


def _suspects(profile: Profile, on: PlannedRun | None) -> tuple[Profile, Suspects]:
    """Return the profile without options that can't hold, and which of it a search may switch."""
    recipe, requires = recipe_of(profile.controls), None
    if recipe is not None and on is not None:
        profile, requires = _drop_idle_options(profile, recipe, on)
    found = culprits.suspects(profile, requires, _group_of)
    if not found.switched:
        why = "; ".join(profile.notes)
        raise InputError(f"nothing in the profile {profile.name} can be searched: {why}")
    return profile, found


def most_configurations(found: Suspects, settings: SearchSettings) -> int:
    """Return how many configurations a search is to be expected to measure at most."""
    most = configurations_bound(len(found.switched), _FORESEEN_CULPRITS)
    return most if settings.most is None else min(most, settings.most)


def _raise_above_chance(
    settings: SearchSettings, records: Sequence[Record], monitor: Monitor
) -> SearchSettings:
    """Return the settings with a resolution that placebos do not reach."""
    chance = chance_of(records)
    if chance <= settings.threshold:
        return settings
    monitor.note(
        f"placebos seem to cost {chance:.2%} of the baseline: the search looks for no less"
    )
    return replace(settings, threshold=chance)


def _finding(  # noqa: PLR0913, PLR0917  (what a bill by search is made of)
    asked: _Asked,
    run: str,
    outcome: SearchResult,
    records: Sequence[Record],
    story: Story,
    ranking: Ranking,
) -> Bill:
    profile, plan, found = asked.profile, asked.plan, asked.found
    resolved = drop_indistinguishable(itemise(profile, found.problem, outcome, records), records)
    described = replace(resolved, compared_with=baseline_in_words(profile))
    accounted = with_accounting(described, profile, plan.instrument)
    itemised = with_defaults(accounted, profile.controls)
    measured = culprits.plan_of_states(plan, found, [step.on for step in outcome.steps])
    whole = [one for one in records if one.role == Whole()]
    notes = (
        baseline_note(profile),
        *plan.notes,
        *(why for _, why in overruled_controls(profile.controls)),
        *notes_of(whole),
    )
    return Bill.of(
        ranking.on(itemised),
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=cells(
            measured,
            [one for one in records if not isinstance(one.role, PlaceboRole | Idle)],
        ),
        notes=tuple(dict.fromkeys(notes)),
        search=story,
    )


def _drop_idle_options(
    profile: Profile, recipe: KernelRecipe, on: PlannedRun
) -> tuple[Profile, Mapping[Control, frozenset[Control]]]:
    """Return the profile without kernel options that change nothing or can't hold, with notes.

    Beside it comes which option comes out only together with which others.
    """
    on.machine.fetch((Boot(kernel=recipe),), on.monitor.note)
    on.monitor.note("asking Kconfig what the options change in the base configuration …")
    found = on.machine.relations(recipe)
    kept = {name: KernelOption(name, value) for name, value in found.effective}
    notes = [
        f"{one.option}={one.wanted} is not what Kconfig sets: {one.why}" for one in found.unmet
    ]
    if found.already:
        same = ", ".join(f"{name}={value}" for name, value in found.already)
        notes.append(f"set so in the base configuration already, at no cost here: {same}")
    return replace(
        profile,
        controls=tuple(one for one in profile.controls if not one.builds or one in kept.values()),
        notes=(*profile.notes, *notes),
    ), {
        kept[name]: frozenset(kept[other] for other in others)
        for name, others in found.requires.items()
    }


def _group_of(control: Control) -> str:
    """Return where the control belongs: an option's group in the catalogue, else its kind."""
    entry = options.entry_of(control.option) if isinstance(control, KernelOption) else None
    return control.mechanism if entry is None else entry.group
