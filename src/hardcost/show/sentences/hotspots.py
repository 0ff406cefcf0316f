"""The beginning of a profile: what each metric costs, and where the largest part of it arises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.sentences.statement import Answer, Ranked
from hardcost.report.text import number, percent, shorten, signed, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.finding import Finding, Profiled

LONGEST = 60
"""Most characters of a function's name."""

_SHOWN = 5


def profile_answer(finding: Finding) -> Answer:
    """Return a sentence for each metric, and where the cost of the dearest arises."""
    sentences = tuple(map(_sentence, finding.profiles))
    dearest = max(finding.profiles, key=lambda one: one.cost)
    if dearest.cost <= 0:
        return Answer(sentences)
    functions = [one for one in dearest.functions if one.own > 0][:_SHOWN]
    unit = visible(dearest.unit)
    ranked = tuple(
        Ranked(
            named(one.function),
            f"{signed(one.own, digits_of(dearest))} {unit}, {percent(one.own / dearest.cost)}",
            one.own / functions[0].own,
        )
        for one in functions
    )
    return Answer(sentences, f"Where the cost of {visible(dearest.metric)} arises", ranked)


def named(function: str) -> str:
    """Return a function's name as it is shown."""
    return shorten(visible(function), LONGEST)


def digits_of(one: Profiled) -> int:
    """Return how many decimals are needed for what is counted."""
    numbers: Sequence[float] = [one.cost, *(function.own for function in one.functions)]
    return 0 if all(each == round(each) for each in numbers) else 1


def profile_lines(finding: Finding) -> list[str]:
    """Return, for a run, where the cost of each configuration arises: a line for each metric."""
    return [f"{visible(one.after)}: {_sentence(one)}" for one in finding.profiles]


def _sentence(one: Profiled) -> str:
    name = visible(one.metric)
    if not one.cost:
        return f"{name} costs nothing more."
    first = next(iter(one.functions))
    more = "more" if one.cost > 0 else "less"
    return (
        f"{name} costs {number(abs(one.cost), digits_of(one))} {visible(one.unit)} {more};"
        f" the largest part, {signed(first.own, digits_of(one))}"
        f" ({percent(first.own / one.cost)}), arises in {named(first.function)}."
    )
