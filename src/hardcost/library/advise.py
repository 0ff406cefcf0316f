"""`hardcost advise`: what to give up of a profile to keep a budget, and so that most is kept."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis import budget as within
from hardcost.analysis import choosing, frontier, itemise, mix
from hardcost.analysis.advised import Abandoned, Choice, Costs, Level, Offer, Unkeepable
from hardcost.analysis.budget import Budget
from hardcost.analysis.choice import Problem
from hardcost.cli import billsingle, budgets, measuring, options, percentages, refused
from hardcost.cli.choices import Choices
from hardcost.cli.console import note
from hardcost.cli.decisionfile import check_out, write_decision
from hardcost.cli.monitors import work_progress
from hardcost.cli.namedprofiles import named_profiles
from hardcost.cli.rules import common
from hardcost.cli.rules.common import NOWHERE
from hardcost.cli.weights import Wanted as Weighed
from hardcost.controls.control import AuditRule, KernelOption
from hardcost.design import leave_one_out, several
from hardcost.design.plan import Workload
from hardcost.errors import InputError
from hardcost.instruments.insn import INSN
from hardcost.profiles import worth
from hardcost.profiles.commandline import Settings
from hardcost.profiles.equivalents import Equivalent, with_cheaper_rules
from hardcost.profiles.kernel.preferred import booted
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from hardcost.analysis.choice import Kept, Point
    from hardcost.analysis.choosing import Outcome
    from hardcost.analysis.finding import Bill, Total
    from hardcost.analysis.frontier import Best
    from hardcost.analysis.interplay import Model
    from hardcost.auditrules.cost.predict import Histogram
    from hardcost.cli.options import Choices as Wishes
    from hardcost.controls.control import Control, LsmMode, Profile
    from hardcost.design.plan import Plan
    from hardcost.run.session import Run

_NO = 1
_USE_IT = (
    "to use it: the same command with `-o decision.toml` writes what is kept as a profile;"
    " `hardcost export` makes rules, an Ansible role or waivers of that"
)
_USE_FILE = "{} is a profile; `hardcost export` makes rules, an Ansible role or waivers of it"
_ANY = Budget(1.0)
"""The levels of the frontier where there is no budget: shares of what every metric is."""


@dataclass(frozen=True)
class _Wanted:
    """What the user wants: a budget, values, a mix of calls, and how much may be measured."""

    budget: Budget | None
    weights: worth.Weights | None
    counts: Histogram | None
    most: int


def advise(  # noqa: PLR0913  (click's options)
    profiles: tuple[str, ...],
    *,
    budget: str | None,
    weights: Path | None,
    histogram_file: Path | None,
    equivalents: bool,
    most: int,
    out: Path | None,
    scap_profile: str | None,
    sysctl: tuple[str, ...],
    lsm: LsmMode | None,
    **words: Any,  # noqa: ANN401  (click's options)
) -> None:
    """Say what to give up of a profile to keep a budget."""
    settings = Settings(sysctl, options.started(words), lsm)
    chosen = options.choices(words, INSN.name)
    workloads = chosen.workloads or (Workload("syscalls"),)
    limit = None if budget is None else percentages.budget(budget)
    counts = None if histogram_file is None else common.histogram(histogram_file)
    if limit is not None:
        budgets.check_metrics(limit, workloads, [mix.NAME] if counts is not None else [])
    if out is not None:
        check_out(out)
    profile = _profile(profiles, scap_profile, settings, equivalents=equivalents)
    own = None if weights is None else worth.read(weights, profile.controls)
    wanted = _Wanted(limit, own, counts, most)
    found = _advised(
        profile, _cheaper(profile, wanted, equivalents), workloads, chosen, wanted, out
    )
    if found is not None and found.has_budget and not found.found:
        raise click.exceptions.Exit(_NO)


def _profile(
    names: Sequence[str], scap_profile: str | None, settings: Settings, *, equivalents: bool
) -> Profile:
    """Return the profile that is named, with boot parameters for kernel options.

    Raises:
        InputError: One is not as it should be, or there are several.
    """
    if len(names) > 1:
        raise InputError("advice is on one profile at a time", hint="name one of them")
    (profile,) = named_profiles(names, scap_profile, settings)
    refused.check(profile)
    return booted(profile) if equivalents else profile


def _cheaper(profile: Profile, wanted: _Wanted, equivalents: bool) -> Equivalent:  # noqa: FBT001  (an option's)
    """Return the profile with audit rules that cost less and record the same, if that is wanted."""
    if not equivalents or wanted.budget is None:
        return Equivalent(profile)
    rules = [one.rule for one in profile.controls if isinstance(one, AuditRule)]
    with work_progress() as tell:
        return with_cheaper_rules(profile, NOWHERE.likely_target(rules), tell)


def _advised(  # noqa: PLR0913, PLR0917  (what is advised on, and how it is measured)
    profile: Profile,
    cheaper: Equivalent,
    workloads: Sequence[Workload],
    chosen: Wishes,
    wanted: _Wanted,
    out: Path | None,
) -> Choice | None:
    """Bill the profile, choose, save and show what was found; None after --dry-run."""
    if cheaper.said:
        profile, equal = several.alike([profile, cheaper.profile])
        cheaper = dataclasses.replace(cheaper, profile=equal)
    plan = billsingle.plan_of(cheaper.profile, workloads, chosen).set_up(chosen.setup)
    plan = dataclasses.replace(plan, study=plan.study.replace("bill-", "advise-", 1))
    if cheaper.said:
        plan = leave_one_out.with_original(plan, profile)
    with measuring.run_of(plan, chosen) as run:
        if run is None:
            return None
        if cheaper.said and not _saves(plan, run, wanted):
            cheaper = Equivalent(profile)
            plan = dataclasses.replace(
                billsingle.plan_of(profile, workloads, chosen).set_up(chosen.setup),
                study=plan.study,
            )
        records = run.measure_more(plan)
        by = Weighed(counts=wanted.counts)
        found = billsingle.finding(cheaper.profile, plan, run, records, chosen, by)
        choices = Choices(cheaper.profile, plan, run, records)
        advice = _Advice(choices, wanted, cheaper, found.bill)
        choice, kept = advice.choice(rounds=_rounds(profile))
        found = dataclasses.replace(found, choice=choice, notes=(*found.notes, *advice.notes))
        found = measuring.finished(run, found)
    if out is not None:  # before anything is printed or drawn, which may fail
        write_decision(out, choices.part(kept), choice, found)
    measuring.shown(found, chosen)
    if choice.found and choice.given_up:
        note(_USE_IT if out is None else _USE_FILE.format(out))
    return choice


def _saves(plan: Plan, run: Run, wanted: _Wanted) -> bool:
    """Measure whether an equivalent is needed to keep the budget, and nearer to it."""
    names = (leave_one_out.BASELINE, leave_one_out.PROFILE, leave_one_out.ORIGINAL)
    records = run.measure_more(leave_one_out.only(plan, names))
    before = itemise.totals(records, leave_one_out.ORIGINAL)
    after = itemise.totals(records, leave_one_out.PROFILE)
    if wanted.counts is not None:
        own = mix.of_histogram(wanted.counts, [one.metric for one in before])
        before, after = own.with_mean(before), own.with_mean(after)
    limit = (wanted.budget or _ANY).for_metrics(one.metric for one in before)
    was, now = (max(within.excess(one, limit) for one in of) for of in (before, after))
    if was <= 0:
        note("the profile is within the budget as it is")
    elif now >= was:
        note("rules that record the same cost no less here: the profile's own are measured")
    return was > 0 and now < was


def _rounds(profile: Profile) -> int:
    """Return how often the frontier's proposals are measured; never if each is a kernel's build."""
    builds = any(isinstance(one, KernelOption) for one in profile.controls)
    return 0 if builds else frontier.ROUNDS


class _Advice:
    """The choice for a budget, and the frontier around it."""

    def __init__(
        self, choices: Choices, wanted: _Wanted, cheaper: Equivalent, bill: Bill | None
    ) -> None:
        self._choices = choices
        self._bill = bill
        self._cheaper = cheaper
        self._wanted = wanted
        self.notes: tuple[str, ...] = ()
        every = frozenset(range(len(choices.controls)))
        if not every:
            raise InputError(f"nothing in the profile {choices.profile.name} can be given up")
        if wanted.counts is not None:
            names = [one.metric for one in choices.totals(every)]
            choices.mix = mix.of_histogram(wanted.counts, names)
            self.notes = (_covered(choices.mix),)
        self._totals = {one.metric: one for one in choices.totals(every)}
        original = choices.original() if cheaper.said else choices.totals(every)
        self._before = {one.metric: one for one in original}
        limits = (wanted.budget or _ANY).for_metrics(self._totals)
        self._shares = {
            metric: limits.of(metric)
            for metric, one in self._totals.items()
            if math.isfinite(limits.of(metric)) and one.baseline > 0
        }
        self._levels = frontier.levels(
            self._shares,
            {metric: one.baseline for metric, one in self._totals.items()},
            {metric: one.least for metric, one in self._totals.items()},
        )
        self._problem = Problem(
            values=tuple(map(self._worth, choices.controls)),
            limits=self._levels[1.0],
            scales={metric: self._totals[metric].baseline for metric in self._shares},
            needs=choices.needs,
            alike=choices.alike,
            chance={metric: self._totals[metric].least for metric in self._shares},
        )

    def _worth(self, control: Control) -> float:
        """Return what a control is worth: as much as all of the original that it stands for."""
        originals = self._cheaper.originals(control)
        return math.fsum(worth.value(one, self._wanted.weights) for one in originals)

    def choice(self, rounds: int) -> tuple[Choice, Kept]:
        """Return what was found, and what is kept."""
        problem, choices = self._problem, self._choices
        points: Sequence[Point] = choices.first()
        if self._wanted.budget is not None and not problem.within(points[0].costs):
            note("the whole profile is over the budget: looking for what to give up")
            outcome = choices.answered(choosing.search(problem, points, self._wanted.most))
        else:
            outcome = choosing.nothing_to_do(problem, points)
        around = choices.answered(
            frontier.frontier(problem, outcome.points, outcome.model, self._levels, rounds)
        )
        kept = self._kept(outcome, around)
        found = self._found(outcome, around, kept)
        points = (*outcome.points, *(one.point for one in around if one.measured))
        return dataclasses.replace(
            found, unkeepable=self._unkeepable(points, outcome.model, kept, rounds)
        ), kept

    def _unkeepable(
        self, points: Sequence[Point], model: Model, kept: Kept, rounds: int
    ) -> Unkeepable | None:
        """Return the controls of which not one fits: all audit rules, all, or what has to stay."""
        if self._wanted.budget is None:
            return None
        problem, listed = self._problem, self._choices.controls
        rules = frozenset(one for one, it in enumerate(listed) if isinstance(it, AuditRule))
        kind, none_of = "audit rule", rules
        if problem.best(points) is None:
            kind, none_of = "required control", problem.bound
        elif not kept and rules != problem.controls:
            kind, none_of = "control", problem.controls
        elif not rules or kept & rules or (kept and len(rules) == 1):
            return None
        able = [one for one in points if one.kept & none_of and problem.bound <= one.kept]
        if not able or any(problem.within(one.costs) for one in able):
            return None
        return Unkeepable(
            kind,
            tuple(listed[one].name for one in sorted(none_of)),
            self._offers(points, model, able, rounds),
        )

    def _offers(
        self, points: Sequence[Point], model: Model, able: Sequence[Point], rounds: int
    ) -> tuple[Offer, ...]:
        """Return what the least budget keeps that allows one of some choices, and a round one."""
        problem, limit = self._problem, (self._wanted.budget or _ANY).for_metrics(self._totals)
        cheapest = min(able, key=lambda one: problem.use(one.costs))
        over = {
            metric: cheapest.costs[metric] / problem.scale(metric)
            for metric, most in problem.limits.items()
            if cheapest.costs[metric] > most
        }
        least = within.raised(limit, over, within.enough)
        round_one = within.raised(least, {it: least.of(it) for it in over}, within.round_above)
        budgets = {1.0: least, 2.0: round_one}
        levels = {factor: self._limits(one) for factor, one in budgets.items()}
        found = self._choices.answered(frontier.frontier(problem, points, model, levels, rounds))
        return tuple(
            self._offer(one, budgets[one.factor], levels[one.factor], able) for one in found
        )

    def _offer(
        self, best: Best, budget: Budget, limits: Mapping[str, float], able: Sequence[Point]
    ) -> Offer:
        """Return what a budget keeps; what is worth more, but keeps none of them, is no answer."""
        point = best.point
        if not any(one.kept <= point.kept for one in able):
            point = dataclasses.replace(self._problem, limits=limits).best(able) or point
        return Offer(
            budget=budget.others,
            budgets=dict(budget.metrics),
            kept=tuple(self._choices.controls[one].name for one in sorted(point.kept)),
            costs=self._costs(self._costing(point), limits),
            measured=best.measured,
        )

    def _limits(self, budget: Budget) -> dict[str, float]:
        """Return the most that each metric may cost under a budget, in its unit."""
        return {
            name: frontier.limit(budget.of(name), one.baseline, one.least)
            for name, one in self._totals.items()
            if name in self._shares
        }

    def _costing(self, point: Point) -> dict[str, Total]:
        """Return what a choice costs on the metrics with a budget."""
        return {
            metric: dataclasses.replace(one, cost=point.costs[metric])
            for metric, one in self._totals.items()
            if metric in self._shares
        }

    def _kept(self, outcome: Outcome, around: Sequence[Best]) -> Kept:
        """Return the best choice for the budget; the frontier may have met a better one."""
        if self._wanted.budget is None:
            return self._problem.controls
        points = (*outcome.points, *(one.point for one in around if one.measured))
        best = self._problem.best(points)
        return self._problem.bound if best is None else best.kept

    def _found(self, outcome: Outcome, around: Sequence[Best], kept: Kept) -> Choice:
        every = self._problem.controls
        best = next((one for one in outcome.points if one.kept == kept), None)
        within = best is None or self._problem.within(best.costs)
        budget = self._wanted.budget
        limits = None if budget is None else budget.for_metrics(self._totals)
        return Choice(
            profile=self._choices.profile.name,
            controls=len(every),
            given_up=tuple(map(self._abandoned, sorted(every - kept))),
            before=self._costs(self._before, self._problem.limits),
            after=self._costs(
                {one.metric: one for one in self._choices.totals(kept)}, self._problem.limits
            ),
            value=self._value(kept),
            worth=_worth_words(
                self._wanted.weights,
                [it for one in self._choices.controls for it in self._cheaper.originals(one)],
            ),
            found=within and bool(kept),
            proposals=outcome.proposals,
            put_back=len(outcome.put_back),
            error=outcome.error,
            frontier=tuple(map(self._level, around)),
            budget=None if limits is None else limits.others,
            budgets={} if limits is None else dict(limits.metrics),
            rewritten=self._cheaper.said,
            equivalent=self._costs(self._totals, self._problem.limits)
            if self._cheaper.said
            else (),
            fixed=self._fixed(),
            rules=self._bill.rules if self._bill is not None else (),
        )

    def _value(self, kept: Kept) -> float:
        whole = self._problem.value(self._problem.controls)
        return self._problem.value(kept) / whole if whole else 1.0

    def _costs(self, totals: Mapping[str, Total], limits: Mapping[str, float]) -> tuple[Costs, ...]:
        return tuple(
            Costs(metric, one.unit, one.baseline, one.cost, limits[metric])
            for metric, one in totals.items()
            if metric in self._shares
        )

    def _fixed(self) -> tuple[Costs, ...]:
        """Return the price of having any audit rule on the metrics with a budget, where it is."""
        prices = {one.metric: one.cost for one in self._bill.fixed} if self._bill else {}
        mean = self._choices.mix.mean(prices) if self._choices.mix is not None else None
        if mean is not None:
            prices[mix.NAME] = mean
        totals = {
            metric: dataclasses.replace(one, cost=prices[metric])
            for metric, one in self._totals.items()
            if prices.get(metric)
        }
        return self._costs(totals, self._problem.limits)

    def _level(self, best: Best) -> Level:
        off = sorted(self._problem.controls - best.point.kept)
        return Level(
            factor=best.factor,
            kept=len(best.point.kept),
            value=self._value(best.point.kept),
            given_up=tuple(self._choices.controls[one].name for one in off),
            costs=self._costs(self._costing(best.point), self._levels[best.factor]),
            measured=best.measured,
        )

    def _abandoned(self, one: int) -> Abandoned:
        """Return a control that is given up, with what it costs on its dearest metric."""
        control, saved = self._choices.controls[one], self._choices.saved(one)
        metric = max(
            self._shares, key=lambda name: saved[name].value / (self._totals[name].baseline or 1.0)
        )
        originals = self._cheaper.originals(control)
        grades = [worth.severity(one) for one in originals]
        return Abandoned(
            control=control.name,
            ids=control.ids,
            severity=max(grades, key=lambda one: worth.SEVERITIES.get(one, 0.0), default=""),
            value=self._problem.values[one],
            metric=metric,
            unit=self._totals[metric].unit,
            baseline=self._totals[metric].baseline,
            cost=saved[metric].value,
            low=saved[metric].low,
            high=saved[metric].high,
            place=_places(originals),
            stands_for=() if originals == (control,) else tuple(one.name for one in originals),
        )


def _places(controls: Iterable[Control]) -> str:
    """Return where controls were written; for a rewritten rule, all that it stands for."""
    places = (getattr(getattr(one, "rule", one), "place", None) for one in controls)
    return ", ".join(dict.fromkeys(str(place) for place in places if place is not None))


def _covered(found: mix.Mix) -> str:
    names = ", ".join(found.weights) or "none"
    return (
        f"mix: the mean call of your histogram over the operations that were measured ({names});"
        f" they stand for {found.covered:.0%} of its calls"
    )


def _worth_words(weights: worth.Weights | None, controls: Iterable[Control]) -> str:
    """Return where values come from."""
    listed = list(controls)
    own = 0 if weights is None else sum(weights.find(one) is not None for one in listed)
    graded = sum(worth.severity(one) in worth.SEVERITIES for one in listed)
    named = ", ".join(f"{name} {value:g}" for name, value in worth.SEVERITIES.items())
    parts = [f"your weights of {count(own, 'control')}"] if own else []
    if graded:
        parts.append(f"the benchmark's severity ({named})")
    rest = f"{worth.UNKNOWN:g} for {'every' if not parts else 'each other'} control"
    return "; ".join([*parts, rest])
