"""What to give up of a profile to keep a budget, so that most is kept."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path

from auditrules.cost.predict import Histogram
from auditrules.load.target import NOWHERE
from auditrules.model.location import Location
from hardcost.analysis.bill import itemise, mix
from hardcost.analysis.bill.budget import Budget, excess
from hardcost.analysis.bill.itemise import BillRecords
from hardcost.analysis.choice import frontier, search
from hardcost.analysis.choice.budgeted_metrics import BudgetedMetrics
from hardcost.analysis.choice.frontier import Best
from hardcost.analysis.choice.search import ChoiceResult
from hardcost.analysis.choice.tradeoff import Kept
from hardcost.controls.control import Control, Profile
from hardcost.errors import InputError
from hardcost.library.bills import budgets, single, verification
from hardcost.library.bills.weights import Ranking
from hardcost.library.choices import Choices
from hardcost.library.least_budget import LeastBudget
from hardcost.library.measurement import Foreseen, PlannedRun, finish_run
from hardcost.library.profiles import ProfileRequest
from hardcost.measure.monitor import Monitor, Silent
from hardcost.mechanisms.audit import audit_rules
from hardcost.model.finding.bill import Itemised
from hardcost.model.finding.choice import (
    Abandoned,
    Advised,
    Choice,
    Costs,
    FrontierLevel,
)
from hardcost.model.request import Count
from hardcost.model.role import Baseline, Original, Whole
from hardcost.plan import leave_one_out, several
from hardcost.plan.plan import Plan
from hardcost.profiles.cheaper_rules import Equivalent, with_cheaper_rules
from hardcost.profiles.kernel.substitutes import replace_kernel_options
from hardcost.profiles.weights import SEVERITIES, UNKNOWN, Weights, read_weights, value_of
from hardcost.store.record import Record
from hardcost.units import count

_COMPARED = (Baseline(), Whole(), Original())
"""The states by which it is decided whether cheaper rules replace the profile's own."""

_ANY = Budget(1.0)
"""The levels of the frontier where there is no budget: shares of what every metric is."""


@dataclass(frozen=True)
class AdviseRequest(ProfileRequest):
    """What is asked of a profile that is over a budget; without one, only for the frontier.

    `weights` is a file that says what controls are worth. `histogram` counts the calls of a
    workload, whose mean call is the metric `mix`. With `equivalents`, what can be had cheaper with
    the same effect is replaced first. At most `most` proposals are measured.
    """

    _: KW_ONLY
    budget: Budget | None = None
    weights: str | Path | None = None
    histogram: Histogram | None = None
    equivalents: bool = True
    most: Count = search.MOST


def advise(request: AdviseRequest, monitor: Monitor | None = None) -> Advised:
    """Find what to give up of a profile, by measuring, and save what was found.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    AdviseRequest.expect(request)
    return advise_with_profile(request, monitor)[0]


def advise_with_profile(
    request: AdviseRequest, monitor: Monitor | None = None
) -> tuple[Advised, Profile]:
    """Return the same, with the profile of what is kept."""
    return _Asked(request, monitor or Silent()).bill_and_choose()


def preview(request: AdviseRequest, monitor: Monitor | None = None) -> Foreseen:
    """Return the plan of what is measured first.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    return _Asked(request, monitor or Silent()).preview()


@dataclass(frozen=True)
class _Wanted:
    """What the user wants: a budget, values, a mix of calls, and how much may be measured."""

    budget: Budget | None
    weights: Weights | None
    counts: Histogram | None
    most: int


class _Asked:
    """A profile that is to be advised on, and what is measured of it first."""

    def __init__(self, request: AdviseRequest, monitor: Monitor) -> None:
        """Read what the request names.

        Raises:
            HardcostError: The request is wrong, or the machine can't measure so.
        """
        self._how, self._monitor = request.how, monitor
        request.how.check()
        if request.budget is not None:
            also = [str(mix.MEAN)] if request.histogram is not None else []
            budgets.check_metrics(request.budget, request.how.workloads_of_profile, also)
        profile = request.load_single_profile("advice is on")
        if request.equivalents:
            profile = replace_kernel_options(profile)
        weights = request.weights
        own = None if weights is None else read_weights(Path(weights), profile.controls)
        self._wanted = _Wanted(request.budget, own, request.histogram, request.most)
        cheaper = self._cheaper(profile, equivalents=request.equivalents)
        if cheaper.said:
            profile, equal = several.make_alike([profile, cheaper.profile])
            cheaper = dataclasses.replace(cheaper, profile=equal)
        plan = self._plan_of(cheaper.profile)
        if cheaper.said:
            plan = leave_one_out.with_original(plan, profile)
        self._profile, self._equivalent = profile, cheaper
        self._verified = verification.is_verified_unasked(cheaper.profile, request.how)
        self._plan = plan
        self._planned = PlannedRun.of(self._part(plan), request.how, monitor)

    def preview(self) -> Foreseen:
        """Return what is measured first."""
        planned = self._planned
        if self._verified:
            planned = verification.with_what_follows(planned, self._equivalent.profile)
        return planned.preview()

    def bill_and_choose(self) -> tuple[Advised, Profile]:
        """Bill the profile, choose, and save what was found."""
        plan, cheaper, wanted, how = self._plan, self._equivalent, self._wanted, self._how
        with self._planned.begin_run() as run:
            first = None
            if cheaper.said:
                first = run.measure_plan(leave_one_out.trials_of_roles(plan, _COMPARED))
                if not _saves(first.records, wanted, self._monitor):
                    cheaper, plan = Equivalent(self._profile), self._plan_of(self._profile)
            measured = run.measure_plan(self._part(plan))
            known = BillRecords(tuple(measured.records))
            if self._verified:
                known = verification.verify_in_groups(
                    cheaper.profile, plan, run, measured.records, how
                )
            by = Ranking(counts=wanted.counts)
            bill = single.finding(cheaper.profile, plan, run, known, how, by)
            choices = Choices(cheaper.profile, plan, run, known)
            advice = _Advice(choices, wanted, cheaper, bill, self._monitor)
            choice, kept = advice.choice(rounds=_rounds(self._profile))
            noted = dataclasses.replace(bill, notes=(*bill.notes, *advice.notes))
            advised = Advised.of_bill(noted, choice)
            # The run's environment is that of what it measured first.
            found = finish_run(run, advised, first or measured, how)
            return found, choices.part(kept)

    def _part(self, plan: Plan) -> Plan:
        """Return the trials with which the bill begins."""
        return verification.first_trials(plan) if self._verified else plan

    def _cheaper(self, profile: Profile, *, equivalents: bool) -> Equivalent:
        """Return the profile with audit rules that cost less and record the same, if wanted."""
        if not equivalents or self._wanted.budget is None:
            return Equivalent(profile)
        rules = audit_rules(profile.controls)
        with self._monitor.work() as tell:
            return with_cheaper_rules(profile, NOWHERE.likely_target(rules), tell)

    def _plan_of(self, profile: Profile) -> Plan:
        workloads = self._how.workloads_of_profile
        plan = single.plan_of(profile, workloads, self._how).set_up(self._how.setup)
        return dataclasses.replace(plan, kind="advise")


def _saves(records: Sequence[Record], wanted: _Wanted, monitor: Monitor) -> bool:
    """Say whether an equivalent is needed to keep the budget, and nearer to it."""
    before = itemise.totals(records, Original())
    after = itemise.totals(records, Whole())
    if wanted.counts is not None:
        own = mix.of_histogram(wanted.counts, [one.metric for one in before])
        before, after = own.with_mean(before), own.with_mean(after)
    limit = (wanted.budget or _ANY).for_metrics(str(one.metric) for one in before)
    was, now = (max(excess(one, limit) for one in totals) for totals in (before, after))
    if was <= 0:
        monitor.note("the profile is within the budget as it is")
    elif now >= was:
        monitor.note("rules that record the same cost no less here: the profile's own are measured")
    return was > 0 and now < was


def _rounds(profile: Profile) -> int:
    """Return how often the frontier's proposals are measured; never if each is a kernel's build."""
    builds = any(one.builds for one in profile.controls)
    return 0 if builds else frontier.ROUNDS


class _Advice:
    """The choice for a budget, and the frontier around it."""

    def __init__(
        self,
        choices: Choices,
        wanted: _Wanted,
        cheaper: Equivalent,
        bill: Itemised,
        monitor: Monitor,
    ) -> None:
        self._monitor = monitor
        self._choices = choices
        self._bill = bill
        self._cheaper = cheaper
        self._wanted = wanted
        self.notes: tuple[str, ...] = ()
        every = choices.every
        if not every:
            raise InputError(f"nothing in the profile {choices.profile.name} can be given up")
        if wanted.counts is not None:
            names = [one.metric for one in choices.totals(every)]
            choices.mix = mix.of_histogram(wanted.counts, names)
            self.notes = (_coverage_note(choices.mix),)
        self._totals = {one.metric: one for one in choices.totals(every)}
        original = choices.original_totals() if cheaper.said else choices.totals(every)
        self._before = {one.metric: one for one in original}
        limits = (wanted.budget or _ANY).for_metrics(map(str, self._totals))
        self._metrics = BudgetedMetrics.of(self._totals, limits)
        self._levels = frontier.levels(
            self._metrics.shares,
            {metric: one.baseline for metric, one in self._totals.items()},
            {metric: one.least for metric, one in self._totals.items()},
        )
        self._problem = choices.tradeoff(
            self._metrics, self._levels[1.0], map(self._worth, choices.controls)
        )

    def _worth(self, control: Control) -> float:
        """Return the value of a control: that of all original controls that it replaces."""
        originals = self._cheaper.originals(control)
        return math.fsum(value_of(one, self._wanted.weights) for one in originals)

    def choice(self, rounds: int) -> tuple[Choice, Kept]:
        """Return what was found, and what is kept."""
        problem, choices = self._problem, self._choices
        if self._wanted.budget is None:
            outcome = search.nothing_to_do(problem, choices.first_points())
        else:
            outcome = choices.search(problem, self._wanted.most)
        around = choices.answer_questions(
            frontier.frontier(problem, outcome.points, outcome.model, self._levels, rounds)
        )
        kept = self._best_kept(outcome, around)
        found = self._describe_choice(outcome, around, kept)
        if self._wanted.budget is None:
            return found, kept
        points = (*outcome.points, *(one.point for one in around if one.measured))
        ways_out = LeastBudget(choices, problem, self._metrics, self._wanted.budget)
        unkeepable = ways_out.unkeepable(points, outcome.model, kept, rounds)
        return dataclasses.replace(found, unkeepable=unkeepable), kept

    def _best_kept(self, outcome: ChoiceResult, around: Sequence[Best]) -> Kept:
        """Return the best choice for the budget; the frontier may have met a better one."""
        if self._wanted.budget is None:
            return self._problem.controls
        points = (*outcome.points, *(one.point for one in around if one.measured))
        best = self._problem.best(points)
        return self._problem.bound if best is None else best.kept

    def _describe_choice(self, outcome: ChoiceResult, around: Sequence[Best], kept: Kept) -> Choice:
        every = self._problem.controls
        best = next((one for one in outcome.points if one.kept == kept), None)
        within = best is None or self._problem.within(best.costs)
        budget = self._wanted.budget
        limits = None if budget is None else budget.for_metrics(map(str, self._totals))
        return Choice(
            profile=self._choices.profile.name,
            controls=len(every),
            given_up=tuple(map(self._abandoned_control, sorted(every - kept))),
            before=self._metrics.costs(self._before, self._problem.limits),
            after=self._metrics.costs(
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
            equivalent=self._metrics.costs(self._totals, self._problem.limits)
            if self._cheaper.said
            else (),
            fixed=self._fixed_prices(),
            rules=self._bill.rules,
        )

    def _value(self, kept: Kept) -> float:
        whole = self._problem.value(self._problem.controls)
        return self._problem.value(kept) / whole if whole else 1.0

    def _fixed_prices(self) -> tuple[Costs, ...]:
        """Return the price of having any audit rule on the metrics with a budget, where it is."""
        prices = {one.metric: one.cost for one in self._bill.fixed}
        mean = self._choices.mix.mean(prices) if self._choices.mix is not None else None
        if mean is not None:
            prices[mix.MEAN] = mean
        totals = {
            metric: dataclasses.replace(one, cost=prices[metric])
            for metric, one in self._totals.items()
            if prices.get(metric)
        }
        return self._metrics.costs(totals, self._problem.limits)

    def _level(self, best: Best) -> FrontierLevel:
        off = sorted(self._problem.controls - best.point.kept)
        return FrontierLevel(
            factor=best.factor,
            kept=len(best.point.kept),
            value=self._value(best.point.kept),
            given_up=tuple(self._choices.controls[one].name for one in off),
            costs=self._metrics.costs_of(best.point, self._levels[best.factor]),
            measured=best.measured,
        )

    def _abandoned_control(self, one: int) -> Abandoned:
        """Return a control that is given up, with its cost on the metric where it costs most."""
        control, saved = self._choices.controls[one], self._choices.savings_of(one)
        metric = max(
            self._metrics.shares,
            key=lambda name: saved[name].value / (self._totals[name].baseline or 1.0),
        )
        originals = self._cheaper.originals(control)
        grades = [one.severity for one in originals]
        return Abandoned(
            control=control.name,
            ids=control.ids,
            severity=max(grades, key=lambda one: SEVERITIES.get(one, 0.0), default=""),
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


def _places(controls: Iterable[Control]) -> tuple[Location, ...]:
    """Return where controls were written; for a rewritten rule, all that it stands for."""
    return tuple(dict.fromkeys(one.place for one in controls if one.place is not None))


def _coverage_note(found: mix.Mix) -> str:
    names = ", ".join(map(str, found.weights)) or "none"
    return (
        f"mix: the mean call of your histogram over the operations that were measured ({names});"
        f" they stand for {found.covered:.0%} of its calls"
    )


def _worth_words(weights: Weights | None, controls: Iterable[Control]) -> str:
    """Return where values come from."""
    listed = list(controls)
    own = 0 if weights is None else sum(weights.find(one) is not None for one in listed)
    graded = sum(one.severity in SEVERITIES for one in listed)
    named = ", ".join(f"{name} {value:g}" for name, value in SEVERITIES.items())
    parts = [f"your weights of {count(own, 'control')}"] if own else []
    if graded:
        parts.append(f"the benchmark's severity ({named})")
    rest = f"{UNKNOWN:g} for {'every' if not parts else 'each other'} control"
    return "; ".join([*parts, rest])
