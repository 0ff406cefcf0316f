"""Whether a suspect is to blame: left out of the profile, and alone or with its partners.

Under a noisy instrument only samples taken after the suspect was chosen count here. The luck that
made it a suspect thus cannot confirm it.
"""

from __future__ import annotations

import dataclasses

from hardcost.plan.search import noise, partners, wording
from hardcost.plan.search.noise import MeanDifference
from hardcost.plan.search.questions import Asking, CostShift, Culprit
from hardcost.plan.search.state import SearchState, Suspect


def examine(case: SearchState, index: int, company: frozenset[int], rise: float) -> Asking[None]:
    """Judge a control that makes a `rise` (or fall) over `company`; its partners come later.

    Partners may be suspects themselves, with partners of their own. `judge_partners` judges them
    when all suspects of the chain are known.
    """
    if index in case.culprits:
        return
    sign = 1 if rise > 0 else -1
    if not (yield from _recurs(case, index, company, sign)):
        return
    found = yield from partners.find(case, Suspect(index, company, sign))
    yield from _judge(case, index, found, sign)
    if index in case.blamed:
        for partner in found:
            others = {index, *found} - {partner} - case.lattice.dependents(partner)
            case.partners.setdefault(partner, Suspect(partner, frozenset(others), sign))


def _recurs(case: SearchState, index: int, company: frozenset[int], sign: int) -> Asking[bool]:
    """Say whether new samples show the difference too, before more is spent on it.

    The segment followed was the one with the largest rise, so some of that is luck.
    """
    name = case.lattice.names[index]
    question = f"measured again, does {name} make the same difference?"
    more, renew = company | {index}, case.measurements.renew
    with_it = yield from renew(more, case.why(more, question))
    again = sign * (with_it - (yield from renew(company, case.why(company, question))))
    if again > case.measurements.cut:
        return True
    case.conclude(f"Measured again, {name} makes {case.percent(sign * again)}: it was chance.")
    return False


def judge_partners(case: SearchState) -> Asking[None]:
    """Judge the partners not judged yet; one may also cost something by itself."""
    for index in case.lattice.in_order(case.partners.keys() - case.culprits.keys()):
        partner = case.partners[index]
        needed = case.lattice.requirements(index)
        question = f"what does {case.lattice.names[index]} make without its partners?"
        alone = yield from case.contrast(needed | {index}, needed, question)
        if alone is not None and case.counts(alone):
            yield from _judge(case, index, (), 1 if alone > 0 else -1)
        else:
            yield from _judge(case, index, case.lattice.in_order(partner.company), partner.sign)


def company_of(case: SearchState, index: int, others: tuple[int, ...]) -> frozenset[int]:
    """Return the smallest configuration with a control's partners to which it can be added."""
    lattice = case.lattice
    least = lattice.closure(others) | lattice.requirements(index)
    return lattice.without({index}, least)


class _Evidence:
    """Samples for one suspect; each configuration is asked for once."""

    def __init__(self, case: SearchState, index: int) -> None:
        self._case = case
        self._name = case.lattice.names[index]
        self._samples: dict[frozenset[int], tuple[float, ...]] = {}

    def difference(
        self, more: frozenset[int], fewer: frozenset[int], *reserve: frozenset[int]
    ) -> Asking[MeanDifference | None]:
        """Return the cost of `more` over `fewer`; None if too few configurations are left."""
        if not self._case.measurements.affords(more, fewer, *reserve):
            return None
        for on in (more, fewer):
            if on not in self._samples:
                why = self._case.why(on, f"is {self._name} to blame?")
                self._samples[on] = yield from self._case.measurements.fresh_samples(on, why)
        return noise.difference(self._samples[more], self._samples[fewer])


def _judge(case: SearchState, index: int, others: tuple[int, ...], sign: int) -> Asking[None]:
    """Confirm or refute a suspect, and record it with its measurements."""
    lattice = case.lattice
    dropped, needed = lattice.dependents(index), lattice.requirements(index)
    without = lattice.without({index}, lattice.everything)
    company = company_of(case, index, others)
    evidence = _Evidence(case, index)
    case.tests += 1
    own = yield from evidence.difference(lattice.everything - dropped, without)
    saved = yield from evidence.difference(lattice.everything, without)
    # The last configuration is reserved for the check of what remains.
    remains = lattice.without(case.blamed | {index}, lattice.everything)
    together = yield from evidence.difference(company | {index}, company, remains)
    alone = yield from evidence.difference(needed | {index}, needed, remains)
    confirmed = any(_holds(case, one, sign) for one in (own, together))
    culprit = Culprit(
        index=index,
        saved=_estimate(saved),
        dropped=lattice.in_order(dropped),
        own=_estimate(own),
        alone=_estimate(alone),
        partners=lattice.in_order(others),
        together=_estimate(together),
        confirmed=confirmed,
        shown="",
    )
    case.culprits[index] = dataclasses.replace(culprit, shown=_describe_culprit(case, culprit))
    case.conclude(case.culprits[index].shown)


def _estimate(difference: MeanDifference | None) -> CostShift | None:
    """Return the estimate of a difference, if it was measured."""
    return None if difference is None else difference.estimate


def _holds(case: SearchState, difference: MeanDifference | None, sign: int) -> bool:
    """Say whether a difference speaks against the suspect; if noisy, by Welch's test."""
    if difference is None:
        return False
    if not case.measurements.noisy:
        return sign * difference.value > case.measurements.cut
    return difference.chance(sign) <= _test_level(case)


def _test_level(case: SearchState) -> float:
    """Return the level of one test, one-sided.

    The i-th suspect gets the i-th part of level/2 + level/4 + level/8 + ..., and each of its two
    tests half of that. However many suspects there are, the chance that any innocent one is
    confirmed stays below the level (Bonferroni's inequality).
    """
    return case.measurements.settings.level * 2.0**-case.tests / 2


def _describe_culprit(case: SearchState, culprit: Culprit) -> str:
    """Return the result of a confirmation, with the control's partners and dependents."""
    lattice, name = case.lattice, case.lattice.names[culprit.index]
    if culprit.own is culprit.together is None:
        return f"{name} is a suspect, but no configurations are left to confirm it."
    company = company_of(case, culprit.index, culprit.partners)
    added = f"added to {wording.names_of_controls(lattice, company)}" if company else "alone"
    made = " and ".join(
        f"{case.percent(estimate.value)} {where}"
        for where, estimate in (("in the profile", culprit.own), (added, culprit.together))
        if estimate is not None
    )
    kind = "confirmed" if culprit.confirmed else "not confirmed"
    test = f" (chance allowed: {_test_level(case):.2g})" if case.measurements.noisy else ""
    shown = f"{name} makes {made}: {kind}{test}."
    if culprit.partners:
        shown += f" It needs {wording.names_of_controls(lattice, culprit.partners)} for that."
    if culprit.dropped:
        them = wording.names_of_controls(lattice, culprit.dropped)
        shown += f" Leaving it out leaves out {them}, too."
    return shown
