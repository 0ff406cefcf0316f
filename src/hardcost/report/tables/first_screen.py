"""The beginning of a bill on a terminal: the answer, what is most expensive, a line on the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.tables.layout import Lines
from hardcost.report.text import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.report.sentences.statement import Answer

_LONGEST = 76  # characters of a name; the table has it whole
_FREE = 40  # characters of a free control's name
_NAMED = 3  # most names of free controls


def first_screen(said: Answer) -> Iterator[Lines]:
    """Yield the answer: its sentences, then the most expensive controls, then the others."""
    yield Lines(said.sentences)
    if not said.dearest:
        return
    width = max(len(one.cost) for one in said.dearest)
    rows = (
        f"{one.cost:>{width}}  {shorten(one.name, _LONGEST)}"
        + (f"  [{one.place}]" if one.place else "")
        for one in said.dearest
    )
    named = "; ".join(shorten(name, _FREE) for _, name in said.free[:_NAMED])
    more = f"; and {len(said.free) - _NAMED} more" if len(said.free) > _NAMED else ""
    below = [said.others] if said.others else []
    below += [f"{said.free_title}: {named}{more}"] if named else []
    yield Lines((f"{said.dearest_title}:", *rows, *below))
