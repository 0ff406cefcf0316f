"""The partners of a suspect: the controls without which it costs less.

The search is QuickXplain's (Junker 2004), on costs instead of contradictions. A suspect's cost
grows along a chain from its requirements to the company in which it was found. The control at
which it grows most is a partner and stays on, until nothing is left to explain.
"""

from __future__ import annotations

import dataclasses

from hardcost.plan.search import wording
from hardcost.plan.search.questions import Asking
from hardcost.plan.search.state import SearchState, Suspect, split_point

_TIMES = 2  # a difference of differences has twice the variance, hence takes twice the samples


def find(case: SearchState, suspect: Suspect) -> Asking[tuple[int, ...]]:
    """Return the partners of a suspect; none if it costs as much alone or that is unknown."""
    lattice, name = case.lattice, case.lattice.names[suspect.index]
    found: list[int] = []
    while True:
        base = _least_configuration(case, suspect, found)
        alone = yield from _cost_over(case, suspect, base)
        whole = yield from _cost_over(case, suspect, suspect.company)
        if alone is None or whole is None:
            return tuple(found)
        with_whom = f"added to {wording.names_of_controls(lattice, base)}" if base else "alone"
        there = f"{case.percent(whole)} in the company in which it was found"
        if not _lacks(case, suspect, alone, whole):
            case.conclude(f"{name} makes {case.percent(alone)} {with_whom}, and {there}.")
            return (yield from _necessary_partners(case, suspect, found))
        case.conclude(
            f"{name} makes {case.percent(alone)} {with_whom}, but {there}: it has a partner there."
        )
        partner = yield from _next_partner(case, suspect, base, (alone, whole))
        if partner is None:
            return tuple(found)
        case.conclude(f"{lattice.names[partner]} is a partner of {name}.")
        found.append(partner)


def _least_configuration(
    case: SearchState, suspect: Suspect, partners: list[int]
) -> frozenset[int]:
    """Return the smallest configuration with some partners to which the suspect can be added."""
    return case.lattice.closure(partners) | case.lattice.requirements(suspect.index)


def _lacks(case: SearchState, suspect: Suspect, some: float, whole: float) -> bool:
    """Say whether `some` is less than `whole` by more than chance."""
    return suspect.sign * (whole - some) > case.measurements.cut


def _necessary_partners(
    case: SearchState, suspect: Suspect, found: list[int]
) -> Asking[tuple[int, ...]]:
    """Return the necessary partners: a later one may make an earlier one unnecessary."""
    kept = list(found)
    for partner in found[:-1]:
        others = [one for one in kept if one != partner]
        if partner in _least_configuration(case, suspect, others):
            continue  # it is on with those that require it, so its own need is unknown
        some = yield from _cost_over(case, suspect, _least_configuration(case, suspect, others))
        whole = yield from _cost_over(case, suspect, suspect.company)
        if some is not None and whole is not None and not _lacks(case, suspect, some, whole):
            case.conclude(f"{case.lattice.names[partner]} is not needed for that.")
            kept = others
    return tuple(kept)


def _next_partner(
    case: SearchState, suspect: Suspect, base: frozenset[int], ends: tuple[float, float]
) -> Asking[int | None]:
    """Return a partner, or None; one that another partner requires comes first."""
    while True:
        partner = yield from _decisive_control(case, suspect, base, ends)
        if partner is None:
            return None
        required = base | case.lattice.requirements(partner)
        if required == base:
            return partner
        before = yield from _cost_over(case, suspect, required)
        if before is None or not _lacks(case, suspect, ends[0], before):
            return partner
        name = case.lattice.names[partner]
        case.conclude(f"Part of that arises with the requirements of {name}: one is a partner.")
        suspect = dataclasses.replace(suspect, company=required)
        ends = (ends[0], before)


def _decisive_control(
    case: SearchState, suspect: Suspect, base: frozenset[int], ends: tuple[float, float]
) -> Asking[int | None]:
    """Return the control at which the suspect's cost grows most, from `base` to its company."""
    added = case.lattice.in_order(suspect.company - base)
    start, stop = 0, len(added)
    low, high = ends
    while stop - start > 1:
        middle = split_point(
            start, stop, lambda point: case.measurements.knows(base | frozenset(added[:point]))
        )
        company = base | frozenset(added[:middle])
        between = yield from _cost_over(case, suspect, company)
        if between is None:
            case.conclude("The search for its partner ends: too few configurations are left.")
            return None
        case.conclude(
            f"{case.lattice.names[suspect.index]} makes {case.percent(between)} in the company of "
            f"{wording.configuration(case.lattice, company)}."
        )
        if suspect.sign * (between - low) >= suspect.sign * (high - between):
            stop, high = middle, between
        else:
            start, low = middle, between
    if not _lacks(case, suspect, low, high):
        case.conclude("Its cost grows gradually: no single partner makes the difference.")
        return None
    return added[start]


def _cost_over(
    case: SearchState, suspect: Suspect, company: frozenset[int]
) -> Asking[float | None]:
    """Return the cost of the suspect over `company`; None if too few configurations are left."""
    name = case.lattice.names[suspect.index]
    reserve = _reserve(case, suspect)
    if not case.measurements.affords(company, company | {suspect.index}, *reserve):
        return None
    question = f"does {name} make the same difference here?"
    return (yield from case.contrast(company | {suspect.index}, company, question, _TIMES))


def _reserve(case: SearchState, suspect: Suspect) -> frozenset[frozenset[int]]:
    """Return the configuration to keep affordable: the profile without the suspect."""
    lattice = case.lattice
    blamed = case.blamed | {suspect.index}
    return frozenset(
        {
            lattice.without({suspect.index}, lattice.everything),
            lattice.without(lattice.dependents(suspect.index), lattice.everything),
            lattice.without(blamed, lattice.everything),
        }
    )
