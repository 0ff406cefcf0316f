"""The beginning of hotspots: what each metric costs, and where the largest part of it arises."""

from __future__ import annotations

from collections.abc import Iterable

from hardcost.model.finding.calls import Calls, Hotspots
from hardcost.model.finding.study import StudyFinding
from hardcost.show.sentences.statement import Ranked, Statement
from hardcost.show.text import number, percent, shorten, signed_number
from hardcost.units import visible

LONGEST = 60
"""Most characters of a function's name."""

_SHOWN = 5


def hotspots_answer(finding: Calls) -> Statement:
    """Return a sentence for each metric, and where the cost of the most expensive arises."""
    sentences = tuple(map(_sentence, finding.hotspots))
    dearest = max(finding.hotspots, key=lambda one: one.cost)
    if dearest.cost <= 0:
        return Statement(sentences)
    functions = [one for one in dearest.functions if one.own > 0][:_SHOWN]
    unit = visible(dearest.unit)
    ranked = tuple(
        Ranked(
            function_name(one.function),
            f"{signed_number(one.own, digits_of(dearest))} {unit},"
            f" {percent(one.own / dearest.cost)}",
            one.own / functions[0].own,
        )
        for one in functions
    )
    return Statement(sentences, f"Where the cost of {visible(dearest.metric)} arises", ranked)


def function_name(function: str) -> str:
    """Return a function's name as it is shown."""
    return shorten(visible(function), LONGEST)


def digits_of(one: Hotspots) -> int:
    """Return how many decimals the counts need."""
    return digits_for([one.cost, *(function.own for function in one.functions)])


def digits_for(counts: Iterable[float]) -> int:
    """Return how many decimals counts of instructions need: none if all are whole."""
    return 0 if all(each == round(each) for each in counts) else 1


def hotspots_lines(finding: StudyFinding) -> list[str]:
    """Return, for a run, where the cost of each configuration arises: a line for each metric."""
    return [f"{visible(one.after)}: {_sentence(one)}" for one in finding.hotspots]


def _sentence(one: Hotspots) -> str:
    name = visible(one.metric)
    if not one.cost:
        return f"{name} costs the same."
    first = next(iter(one.functions))
    more = "more" if one.cost > 0 else "less"
    return (
        f"{name} costs {number(abs(one.cost), digits_of(one))} {visible(one.unit)} {more};"
        f" the largest part, {signed_number(first.own, digits_of(one))}"
        f" ({percent(first.own / one.cost)}), arises in {function_name(first.function)}."
    )
