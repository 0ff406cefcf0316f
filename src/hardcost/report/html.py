"""A finding as one HTML file that needs nothing else: no script, no font, no picture from outside.

The template escapes whatever it is given. Only charts go in as they are, and those `chart` has made
and checked.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

from hardcost.report.advice import advice_lines
from hardcost.report.bill_table import bill_grids, bill_size, matrix_grid, reading_guide
from hardcost.report.chart import charts
from hardcost.report.failures import reasons
from hardcost.report.families import summary_grids
from hardcost.report.grid import split, without_optional
from hardcost.report.ledger import FEW
from hardcost.report.matrix import for_page
from hardcost.report.observed_chart import share_charts, timeline_charts
from hardcost.report.observed_table import event_grids, lookup_grids, loss_grids, share_grids
from hardcost.report.published_table import (
    mean_grids,
    published_matrices,
    published_notes,
    published_title,
    range_grids,
)
from hardcost.report.search import search_lines
from hardcost.report.table import run_matrices
from hardcost.report.text import MARK, count, phrases, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jinja2 import Template

    from hardcost.analysis.finding import Finding
    from hardcost.report.drawing import Chart
    from hardcost.report.failures import Reason
    from hardcost.report.grid import Grid

_LISTED = 20
"""How many of a bill's controls are listed before the table of all."""

_PAPER = 150
"""The characters that fit beside each other on a printed page."""

_WORDS = 70
"""How many of them the words of a row take."""

_ROOMY = 4
"""Up to so many metrics there is room for optional columns."""

_FACTS = {
    "qemu": "QEMU",
    "kernel": "Kernel",
    "cpu_model": "CPU model",
    "host": "Host",
    "image": "Image",
}

_INSTRUMENTS = {
    "insn": (
        "The numbers are instructions, counted in an emulated machine. They repeat exactly, so a "
        "difference of a single instruction is real. They say what work was added, not how long "
        "you wait: caches, branch prediction and slow devices are not part of them."
    ),
    "time": (
        "The numbers are times, read from the clock of the machine. They vary from trial to "
        "trial; where an interval is given, the true value lies in it with a confidence of 95 %. "
        "They say how long you wait, on this machine."
    ),
}


_SERVICES = (
    "The numbers are instructions, counted in an emulated machine. The same trial always gives the "
    "same count. One program more or less moves the clock's ticks, though, so that differences "
    "below about half a per cent between configurations are not to be read as a control's cost. "
    "The numbers say what work was added, not how long you wait: caches, branch prediction and "
    "slow devices are not part of them."
)
"""How to read instructions of a whole system."""


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, paragraphs, failures, charts, tables, and such to unfold."""

    title: str
    paragraphs: tuple[str, ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    failures: tuple[Reason, ...] = ()
    charts: tuple[Chart, ...] = ()
    grids: tuple[Grid, ...] = ()
    folded: tuple[Grid, ...] = ()
    pictures: tuple[Chart, ...] = ()


def to_html(finding: Finding) -> str:
    """Return a whole report of `finding` as one self-contained HTML page."""
    return _template().render(
        title=visible(finding.title or finding.study),
        subtitle=_subtitle(finding),
        facts=_facts(finding),
        guide=_guide(finding),
        sections=_sections(finding),
        notes=[visible(note) for note in finding.notes],
        environment=_environment(finding),
        commands=_commands(finding),
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("hardcost.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["phrases"] = phrases
    environment.filters["pages"] = _pages
    environment.filters["behind"] = _behind
    return environment.get_template("report.html.j2")


def _subtitle(finding: Finding) -> str:
    """Return which profile a bill is for."""
    bill = finding.bill
    return f"Bill for {visible(bill.profile)}: {bill_size(bill)}" if bill else ""


def _behind(notes: Sequence[str], text: str) -> str:
    """Return the notes that a cell's sign stands for, none where it bears no sign."""
    return " ".join(note for note in notes if note.startswith(MARK)) if MARK in text else ""


def _pages(grid: Grid) -> list[Grid]:
    """Return `grid` in parts that fit on paper, where nothing scrolls."""
    return split(grid, _PAPER - (_WORDS if grid.texts else 0))


def _facts(finding: Finding) -> list[tuple[str, str]]:
    """Return what a reader must know before any number."""
    facts = [("study", finding.study), ("run", finding.run)]
    facts += [("instrument", finding.instrument), ("machine", finding.machine)]
    return [(name, visible(value)) for name, value in facts]


def _guide(finding: Finding) -> str:
    """Return how to read the page, in a paragraph."""
    other = f"The numbers were recorded by the instrument {visible(finding.instrument)}."
    words = [_INSTRUMENTS.get(finding.instrument, other)]
    if finding.instrument == "insn" and "image" in finding.environment:
        words = [_SERVICES]
    if finding.cells:
        words.append(
            "In the tables each row is a configuration, which is one exact state of the machine; "
            "each metric has its value and the difference from the baseline that the table names. "
            "The darker a difference, the more times the baseline."
        )
    return " ".join(words)


def _sections(finding: Finding) -> list[Section]:
    drawn = charts(finding)
    sections = []
    if finding.bill is not None:
        tables = tuple(bill_grids(finding, _LISTED))
        sections += [
            Section(
                "The bill",
                terms=reading_guide(finding.bill),
                grids=tables[:1],
            ),
            Section(
                "Control by control",
                charts=drawn.bill,
                grids=tables[1:],
                folded=tuple(_matrix(finding)),
            ),
        ]
    if finding.search is not None:
        _, *lines = search_lines(finding.search)
        sections.append(Section("How the culprits were found", tuple(lines)))
    if finding.advice is not None:
        sections.append(Section("Within the budget", tuple(advice_lines(finding.advice))))
    if finding.cells or finding.failures:
        matrices = run_matrices(finding)
        grids = (*summary_grids(finding), *(_fitted(for_page(matrix)) for matrix in matrices))
        measured = Section("What was measured", charts=drawn.run, grids=grids)
        if finding.bill is not None:
            measured = Section("What was measured", charts=drawn.run, folded=grids)
        sections.append(measured)
    if finding.failures:
        failed = count(len(finding.failures), "trial")
        sections.append(Section(f"{failed} failed", failures=reasons(finding)))
    seen = (*loss_grids(finding), *lookup_grids(finding))
    folded = (*share_grids(finding), *event_grids(finding))
    if seen or folded:
        sections.append(
            Section(
                "What was seen beside it",
                charts=tuple(share_charts(finding)),
                grids=seen,
                folded=folded,
                pictures=tuple(timeline_charts(finding)),
            )
        )
    figures = (
        *(for_page(matrix) for matrix in published_matrices(finding)),
        *range_grids(finding),
        *mean_grids(finding),
    )
    if figures:
        sections.append(
            Section(
                published_title(finding),
                published_notes(finding),
                charts=drawn.published,
                grids=figures,
            )
        )
    return sections


def _matrix(finding: Finding) -> Iterable[Grid]:
    """Yield the table of every cost, unless the itemised table already has them all."""
    grid = matrix_grid(finding)
    if len(grid.groups) > FEW or grid.rows > _LISTED:
        yield grid


def _fitted(grid: Grid) -> Grid:
    return grid if len(grid.groups) <= _ROOMY else without_optional(grid)


def _environment(finding: Finding) -> list[tuple[str, str]]:
    known = [
        (label, finding.environment[key])
        for key, label in _FACTS.items()
        if key in finding.environment
    ]
    others = sorted(item for item in finding.environment.items() if item[0] not in _FACTS)
    return [(visible(name), visible(value)) for name, value in (*known, *others)]


def _commands(finding: Finding) -> list[str]:
    """Return the commands that measure this again and that show it again."""
    workloads = dict.fromkeys(cell.workload for cell in finding.cells)
    workloads |= dict.fromkeys(failure.workload for failure in finding.failures)
    named = ["--workload", ",".join(workloads)] if workloads else []
    chosen = [*named, "--machine", finding.machine, "--instrument", finding.instrument]
    if finding.bill is not None:
        again = ["hardcost", "bill", finding.bill.profile, *chosen]
    elif finding.scale is not None:
        study = finding.study.removesuffix(f"-{finding.scale}")
        again = ["hardcost", "run", study, "--scale", finding.scale, *chosen]
    else:
        again = ["hardcost", "run", finding.study, *chosen]
    return [_shell(again), _shell(["hardcost", "report", finding.run])]


def _shell(words: Sequence[str]) -> str:
    return visible(shlex.join(words))
