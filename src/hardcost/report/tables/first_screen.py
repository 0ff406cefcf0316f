"""The first screen of a bill on a terminal: the answer, what is most expensive, what is free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.tables.layout import Lines
from hardcost.report.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.report.sentences.statement import Answer

_NAMED = 3
_LONGEST = 110  # characters of a name; the table has it whole


def first_screen(said: Answer) -> Iterator[Lines]:
    """Yield the answer: its sentences, then the most expensive controls and the free ones."""
    yield Lines(said.sentences)
    if len(said.dearest) > 1:
        named = (f"{one.cost}: {shorten(one.name, _LONGEST)}" for one in said.dearest[:_NAMED])
        yield Lines((f"{said.dearest_title}, each on the metric where it costs most:", *named))
    if said.free and said.dearest:
        named = (shorten(name, _LONGEST) for _, name in said.free[:_NAMED])
        more = len(said.free) - _NAMED
        rest = [f"and {more} more; the HTML report lists all"] if more > 0 else []
        yield Lines((f"{said.free_title}:", *named, *rest))
