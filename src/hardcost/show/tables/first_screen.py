"""The beginning of a bill on a terminal: the answer, what is most expensive, a line on the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.sentences.advice import advice_lines
from hardcost.report.sentences.answer import answer
from hardcost.report.sentences.failures import unmeasured_lines
from hardcost.report.tables.accounting_table import accounting_line
from hardcost.report.tables.layout import Document, Lines
from hardcost.report.text import shorten, visible
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import ConsoleRenderable

    from hardcost.analysis.finding import Bill, Finding
    from hardcost.report.sentences.statement import Answer

_LONGEST = 76  # characters of a name; the table has it whole
_FREE = 40  # characters of a free control's name
_NAMED = 10  # most names of free controls


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


def bill_screen(finding: Finding) -> ConsoleRenderable:
    """Return the first screen of a bill: the answer, the dearest controls, a line on the rest."""
    bill = finding.bill
    if bill is None:
        raise ValueError(f"run {finding.run!r} holds no bill")
    notes = f", with {count(len(finding.notes), 'note')} on them" if finding.notes else ""
    more = f"All numbers{notes}: hardcost report {visible(finding.run)} --all"
    return Document(
        (
            *answered(finding),
            *([Lines(tuple(unmeasured_lines(bill)))] if bill.unmeasured else []),
            *([Lines((accounting_line(bill.accounting),))] if bill.accounting else []),
            Lines((*_remedies(bill), more)),
        )
    )


def _remedies(bill: Bill) -> Iterator[str]:
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


def answered(finding: Finding) -> Iterator[Lines]:
    """Yield the answer, and what to leave out for a budget."""
    yield from first_screen(answer(finding))
    if finding.advice is not None and len(advice_lines(finding.advice)) > 1:
        yield Lines(tuple(advice_lines(finding.advice)[1:]))
