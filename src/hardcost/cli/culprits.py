"""A bill by group testing: the search asks, a run answers, until the culprits are named."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.analysis import blamed
from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.resolved import resolved
from hardcost.cli import options
from hardcost.cli.console import note
from hardcost.cli.finding import notes_of
from hardcost.cli.itemised import baseline_note
from hardcost.cli.session import announce_source, carry_out
from hardcost.controls.apply import kernel
from hardcost.controls.control import KernelOption
from hardcost.design import culprits, placebos
from hardcost.design.compared import compared_with
from hardcost.design.group_testing import Settings, bound, search, statement
from hardcost.design.leave_one_out import BASELINE, PROFILE
from hardcost.errors import InputError
from hardcost.instruments.names import instrument as instrument_named
from hardcost.machines.cache import Cache
from hardcost.machines.kernels.relations import relations
from hardcost.profiles.kernel import kerneloptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.finding import Search
    from hardcost.cli.options import Choices
    from hardcost.cli.session import Measure
    from hardcost.controls.control import Control, Profile
    from hardcost.design.culprits import Suspects
    from hardcost.design.group_testing import Answer, Outcome, Question
    from hardcost.design.plan import Plan, Workload
    from hardcost.store.record import Record

MOST_KERNELS = 12
"""Configurations of a search that builds kernels, unless the user allows more."""

_FORESEEN_CULPRITS = 3  # so many as the search's own statement speaks of

_USUAL_NOISE = 0.02  # relative, of an instrument that is not exact; the search finds its own


@dataclass(frozen=True)
class Wanted:
    """How the user wants a search: the least cost that matters, the most configurations."""

    resolution: float
    most: int | None


def bill(
    profile: Profile, workloads: Sequence[Workload], chosen: Choices, wanted: Wanted
) -> Finding | None:
    """Search for what is to blame for a profile's cost; print, save and report the bill.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    if chosen.repetitions is not None:
        raise InputError(
            "a search decides itself how often it measures",
            hint="leave --repetitions out, or take --method single",
        )
    profile, requires = _that_hold(profile, chosen)
    found = culprits.suspects(profile, requires, _group_of)
    if not found.switched:
        why = "; ".join(profile.notes)
        raise InputError(f"nothing in the profile {profile.name} can be searched: {why}")
    builds = any(isinstance(one, KernelOption) for one in found.switched)
    exact = instrument_named(chosen.instrument or "insn").exact
    settings = Settings(
        threshold=wanted.resolution,
        most=wanted.most or (MOST_KERNELS if builds else None),
        noise=None if exact else _USUAL_NOISE,
    )
    said = statement(found.problem, settings)
    note(said)
    plan = culprits.first_plan(
        profile,
        found,
        workloads,
        instrument=chosen.instrument or "insn",
        seeds=chosen.seeds,
        placebos=placebos.affordable((*found.fixed, *found.switched), workloads) if exact else 0,
    ).set_up(chosen.setup)
    plan = dataclasses.replace(plan, notes=(*plan.notes, said) if chosen.dry_run else plan.notes)

    def finding_of(run: str, records: Sequence[Record], measure: Measure) -> Finding:
        driver = Driver(plan, found, measure, list(records))
        outcome = driver.searched(_above_chance(settings, records))
        guided_by = blamed.guide_name(records)
        told = blamed.told(found.problem.names, outcome, said, guided_by)
        return _finding(profile, plan, run, found, outcome, driver.records, told)

    return carry_out(plan, chosen, finding_of, most=most_configurations(found, settings))


def most_configurations(found: Suspects, settings: Settings) -> int:
    """Return how many configurations a search is to be expected to measure at most."""
    most = bound(len(found.switched), _FORESEEN_CULPRITS)
    return most if settings.most is None else min(most, settings.most)


def _above_chance(settings: Settings, records: Sequence[Record]) -> Settings:
    """Return the settings with a resolution that placebos do not reach."""
    chance = blamed.chance(records)
    if chance <= settings.threshold:
        return settings
    note(f"placebos seem to cost {chance:.2%} of the baseline: the search looks for no less")
    return dataclasses.replace(settings, threshold=chance)


class Driver:
    """Measures what a search asks for, and keeps every record."""

    def __init__(
        self, plan: Plan, found: Suspects, measure: Measure, records: list[Record]
    ) -> None:
        """Go on from the `records` of the search's first `plan`."""
        self.records = records
        self._plan = plan
        self._found = found
        self._measure = measure
        self._baseline = [one for one in records if one.configuration == BASELINE]
        self._taken: Counter[str] = Counter()
        self._first = {one.configuration for one in records}

    def searched(self, settings: Settings) -> Outcome:
        """Carry the search through, telling each step as it ends."""
        asking = search(self._found.problem, settings)
        question = next(asking)
        while True:
            answer = self._answer(question)
            try:
                question = asking.send(answer)
            except StopIteration as ended:
                outcome: Outcome = ended.value
                return outcome

    def _answer(self, question: Question) -> Answer:
        name = culprits.name_of(question.on, len(self._found.switched))
        if name in self._first and not self._taken[name]:
            mine = [one for one in self.records if one.configuration == name]
            samples = blamed.guide(mine, self._baseline)
            self._taken[name] = len(samples)
            if len(samples) >= question.repetitions:
                return samples[: question.repetitions]
            rest = dataclasses.replace(question, repetitions=question.repetitions - len(samples))
            return (*samples, *self._fresh(name, rest))
        return self._fresh(name, question)

    def _fresh(self, name: str, question: Question) -> Answer:
        number = len({*self._first, *self._taken, name})
        on = f"{len(question.on)} of {len(self._found.switched)} on"
        note(f"configuration {number}: {name} ({on}): {question.why}")
        plan = culprits.asked(self._plan, self._found, question, self._taken[name])
        self._taken[name] += question.repetitions
        records = self._measure(plan)
        self.records.extend(records)
        return blamed.guide(records, self._baseline)


def _finding(  # noqa: PLR0913, PLR0917  (a finding is made of just these)
    profile: Profile,
    plan: Plan,
    run: str,
    found: Suspects,
    outcome: Outcome,
    records: Sequence[Record],
    told: Search,
) -> Finding:
    bill = resolved(blamed.itemise(profile, found.problem, outcome, records), records)
    bill = dataclasses.replace(bill, compared_with=compared_with(profile))
    measured = culprits.measured(plan, found, [step.on for step in outcome.steps])
    whole = [one for one in records if one.configuration == PROFILE]
    return Finding(
        run=run,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=cells(
            measured, [one for one in records if not placebos.reference(one.configuration)]
        ),
        notes=tuple(dict.fromkeys((baseline_note(profile), *plan.notes, *notes_of(whole)))),
        bill=bill,
        search=told,
    )


def _that_hold(
    profile: Profile, chosen: Choices
) -> tuple[Profile, Mapping[str, frozenset[str]] | None]:
    """Return the profile without kernel options that change nothing or can't hold, with notes."""
    recipe = kernel(profile.controls)
    if recipe is None or not recipe.options:
        return profile, None
    cache = Cache()
    announce_source(cache)
    note("asking Kconfig what the options do to the base …")
    known = relations(options.kernels(cache, chosen.source, unconfined=chosen.unconfined), recipe)
    kept = {KernelOption(name, value) for name, value in known.effective}
    notes = [f"{one.option}={one.wanted} does not come out: {one.why}" for one in known.unmet]
    if known.already:
        same = ", ".join(f"{name}={value}" for name, value in known.already)
        notes.append(f"so on the base already, and of no cost here: {same}")
    return dataclasses.replace(
        profile,
        controls=tuple(
            one for one in profile.controls if not isinstance(one, KernelOption) or one in kept
        ),
        notes=(*profile.notes, *notes),
    ), known.requires


def _group_of(control: Control) -> str:
    """Return where the control belongs: an option's group in the catalogue, else its kind."""
    entry = kerneloptions.entry_of(control.option) if isinstance(control, KernelOption) else None
    return control.mechanism if entry is None else entry.group
