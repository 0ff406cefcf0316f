"""The beginning of a bill on a terminal: the answer, what is most expensive, a line on the rest."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import ConsoleRenderable

from hardcost.model.finding.bill import Bill, Itemised
from hardcost.show.sentences.advice import advice_lines
from hardcost.show.sentences.answer import answer
from hardcost.show.sentences.failures import unmeasured_lines
from hardcost.show.sentences.statement import Statement
from hardcost.show.sentences.verification import verification_lines
from hardcost.show.tables.accounting import accounting_line
from hardcost.show.tables.layout import Layout, TextLines
from hardcost.show.text import shorten
from hardcost.units import count, visible

_LONGEST = 76  # characters of a name; the table has it whole
_FREE = 40  # characters of a free control's name
_NAMED = 10  # most names of free controls


def first_screen(said: Statement) -> Iterator[TextLines]:
    """Yield the answer: its sentences, then the most expensive controls, then the others."""
    yield TextLines(said.sentences)
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
    yield TextLines((f"{said.dearest_title}:", *rows, *below))


def bill_screen(finding: Bill, store: str = "") -> ConsoleRenderable:
    """Return the first screen of a bill: answer, most expensive controls, a line on the rest.

    `store` are the words that name the store, if it is not the default one.
    """
    notes = f", with {count(len(finding.notes), 'note')} on them" if finding.notes else ""
    more = f"All numbers{notes}: hardcost report {visible(finding.run)} --all{visible(store)}"
    return Layout(
        (
            *answer_and_advice(finding),
            *([TextLines(tuple(unmeasured_lines(finding)))] if finding.unmeasured else []),
            *([TextLines((accounting_line(finding.accounting),))] if finding.accounting else []),
            TextLines((*verification_lines(finding), *_remedies(finding), more)),
        )
    )


def _remedies(bill: Itemised) -> Iterator[str]:
    """Yield the verbs that say how to pay less, where there is something to pay."""
    if not any(total.distinguishable for total in bill.totals):
        return
    if bill.rules:
        yield (
            "To pay less and lose nothing: `hardcost rules optimize PROFILE -o NEW` writes cheaper"
            " rules that record the same."
        )
    still = " still" if bill.rules else ""
    yield (
        f"To pay less{still}: `hardcost advise PROFILE --budget 10%` says what to give up so that"
        " nothing grows by more than 10%."
    )


def answer_and_advice(finding: Bill) -> Iterator[TextLines]:
    """Yield the answer, and what to leave out for a budget."""
    yield from first_screen(answer(finding))
    if finding.advice is not None and len(advice_lines(finding.advice)) > 1:
        yield TextLines(tuple(advice_lines(finding.advice)[1:]))
