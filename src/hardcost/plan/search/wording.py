"""The search in words: configurations, segments and costs as the log shows them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hardcost.plan.search.lattice import Lattice

_FEW = 6  # most names in a row that a reader takes in


def percent(difference: float, baseline: float) -> str:
    """Return a difference as a signed percentage of the baseline."""
    return f"{difference / baseline:+.2%}"


def names_of_controls(lattice: Lattice, indices: Collection[int]) -> str:
    """Return the names of controls in order; of many, only the first and last."""
    names = [lattice.names[index] for index in lattice.in_order(indices)]
    if len(names) > _FEW:
        return f"{len(names)} controls from {names[0]} to {names[-1]}"
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def segment_in_words(lattice: Lattice, controls: Sequence[int]) -> str:
    """Return neighbours by number, first and last."""
    if len(controls) == 1:
        return lattice.names[controls[0]]
    first, last = lattice.names[controls[0]], lattice.names[controls[-1]]
    return f"the {len(controls)} controls from {first} to {last}"


def configuration(lattice: Lattice, on: frozenset[int]) -> str:
    """Return the shortest description of which controls are on."""
    off = lattice.everything - on
    if not on:
        return "the baseline"
    if not off:
        return "the whole profile"
    if len(on) <= _FEW:
        return f"{names_of_controls(lattice, on)} alone"
    if len(off) <= _FEW:
        return f"the profile without {names_of_controls(lattice, off)}"
    last = lattice.names[lattice.in_order(on)[-1]]
    if on == frozenset(lattice.order[: len(on)]):
        return f"the first {len(on)} controls, up to {last}"
    return f"{len(on)} controls, the last of them {last}"
