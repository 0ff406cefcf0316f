"""A finding as one self-contained HTML file: no external script, font or picture.

The template escapes all input. Only charts are inserted as they are, which `chart` has made and
checked, the data of `whatif`, and our own scripts, which the page's policy names by their hashes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from hardcost.model.finding.bill import Bill, Bills
from hardcost.model.finding.calls import Calls
from hardcost.model.finding.choice import Advised
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding, failures_of
from hardcost.model.finding.trace import Traces
from hardcost.show.bill_rows import FEW, bill_size
from hardcost.show.charts.chart import UNDRAWN, Charts, charts
from hardcost.show.charts.drawing import Chart
from hardcost.show.charts.frontier import frontier_charts
from hardcost.show.charts.recorders import share_charts, timeline_charts
from hardcost.show.charts.svg import rename_ids
from hardcost.show.page import what_if
from hardcost.show.page.flame_graph import FLAMES_GUIDE, Graph, flame_script, graphs
from hardcost.show.page.trace_lanes import LANES_GUIDE, Lanes, drawings
from hardcost.show.sentences.advice import advice_lines
from hardcost.show.sentences.answer import answer
from hardcost.show.sentences.choice import choice_notes, choice_sentences
from hardcost.show.sentences.failures import Reason, reasons, unmeasured_lines
from hardcost.show.sentences.search_steps import search_lines
from hardcost.show.tables.accounting import accounting_line, kinds_grid, rules_grids
from hardcost.show.tables.bill import accounts_of, bill_grids, matrix_grid, reading_guide
from hardcost.show.tables.choice import frontier_grid, given_up_grids
from hardcost.show.tables.counters import counter_grids
from hardcost.show.tables.hotspots import control_grids, hotspot_grids, hotspot_terms
from hardcost.show.tables.layout import Grid, split, without_optional
from hardcost.show.tables.matrix import for_page
from hardcost.show.tables.published import (
    mean_grids,
    published_matrices,
    published_notes,
    published_title,
    range_grids,
)
from hardcost.show.tables.recorders import event_grids, lookup_grids, loss_grids, share_grids
from hardcost.show.tables.run import instrument_and_machine, run_matrices
from hardcost.show.tables.several import bill_line, common_lines, several_heading, totals_grid
from hardcost.show.tables.source_listing import Listing, listings
from hardcost.show.tables.steps import successive_grids
from hardcost.show.tables.time_and_count import BOTH_TERMS, both_grids
from hardcost.show.tables.trace import (
    order_grid,
    share_grid,
    shown_traces,
    sum_line,
    trace_terms,
)
from hardcost.show.tables.workload_families import summary_grids
from hardcost.show.text import MARK, phrases
from hardcost.units import count, visible

_FREE = 8
"""Most names of free controls on the first screen."""

_LISTED = 20
"""Most controls of a bill that are listed before the table of all."""

_PAPER = 150
"""Characters that fit on a line of a printed page."""

_WORDS = 70
"""Characters of that line that a row's text takes."""

_LETTER, _PADDING, _SENTENCE = 0.5, 1.2, 19.0
"""Approximate least width of a digit, a cell's padding and a row's text in a table, in rem."""

_REPEATED = 50_000
"""Most characters for notes in the cells of a table, beside those below it."""

_STEPS = (20, 35, 50, 65, 74)
"""Widths of tables, in rem; narrower windows have to scroll them."""

_CODE = re.compile(r"`([^`]+)`")

_ROOMY = 4
"""Most metrics that leave room for optional columns."""

_FACTS = {
    "qemu": "QEMU",
    "kernel": "Kernel",
    "cpu_model": "CPU model",
    "processors": "Processors",
    "host": "Host",
    "guest": "Guest",
    "image": "Image",
}

_INSTRUMENTS = {
    "insn": (
        "The numbers are instructions, counted in an emulated machine. They repeat exactly, so a "
        "difference of a single instruction is real. They say what work was added, not how long "
        "you wait: caches, branch prediction and slow devices are not part of them."
    ),
    "parallel": (
        "The numbers are parallel instructions, counted on several processors of an emulated "
        "machine: how many each could have executed until the work was done, waiting for locks, "
        "queues and other processes included. They repeat exactly. They are no time: caches, "
        "branch prediction and slow devices are not part of them."
    ),
    "time": (
        "The numbers are times, read from the clock of the machine. They vary from trial to "
        "trial; where an interval is given, the true value lies in it with a confidence of 95 %. "
        "They say how long you wait, on this machine."
    ),
}


_SERVICES = (
    "The numbers are instructions, counted in an emulated machine. The same trial always gives the "
    "same count. However, one program more or less shifts the clock's ticks, so one trial is one "
    "draw. Where an interval is given, it is over trials that were perturbed; where none is, a "
    "difference below about half a per cent cannot be attributed to a control. "
    "The numbers say what work was added, not how long you wait: caches, branch prediction and "
    "slow devices are not part of them."
)
"""How to read instructions of a whole system."""


@dataclass(frozen=True)
class Section:
    """A part of the page: a heading, paragraphs, failures, pictures, tables, and foldable parts.

    `name` is the target of links to it.
    """

    name: str
    title: str
    paragraphs: tuple[str, ...] = ()
    failures: tuple[Reason, ...] = ()
    charts: tuple[Chart, ...] = ()
    flames: tuple[Graph, ...] = ()
    listings: tuple[Listing, ...] = ()
    lanes: tuple[Lanes, ...] = ()
    grids: tuple[Grid, ...] = ()
    folded: tuple[Grid, ...] = ()
    pictures: tuple[Chart, ...] = ()


def to_html(finding: Finding, *, drawn: bool = True) -> str:
    """Return a report as one self-contained HTML page; without `drawn` it has no charts."""
    first, sections = answer(finding), _sections(finding, drawn=drawn)
    chosen = what_if.data_for_page(finding) if isinstance(finding, Bill) else None
    flamed = any(section.flames for section in sections)
    return _template().render(
        title=visible(finding.title or finding.study),
        subtitle=_subtitle(finding),
        answer=first,
        free=first.free[:_FREE],
        facts=_facts(finding),
        guide=_guide(finding),
        terms=_terms(finding),
        sections=sections,
        notes=[*(() if drawn else (UNDRAWN,)), *(visible(note) for note in finding.notes)],
        environment=_environment(finding),
        commands=_commands(finding),
        what_if=chosen,
        flamed=flamed,
        laned=any(section.lanes for section in sections),
        scripts=[*([what_if.script()] if chosen else []), *([flame_script()] if flamed else [])],
    )


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("hardcost.show.page"),
        autoescape=True,
        undefined=StrictUndefined,  # else a misspelt name in a template is an empty text
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["phrases"] = phrases
    environment.filters["pages"] = _pages
    environment.filters["breadth"] = _breadth
    environment.filters["cell_width"] = _cell_width
    environment.filters["coded"] = _mark_code
    environment.filters["behind"] = _behind
    environment.globals["mark"] = MARK
    return environment.get_template("report.html.j2")


def _subtitle(finding: Finding) -> str:
    """Return the subject of the page, and the instrument and machine."""
    if isinstance(finding, Bills):
        return several_heading(finding)
    what = f"run of {visible(finding.study)}"
    if isinstance(finding, Bill):
        size = bill_size(finding, searched=finding.search is not None)
        what = f"bill for {visible(finding.profile)}: {size}"
    return f"{what}; {instrument_and_machine(finding)}"


def _behind(grid: Grid) -> str:
    """Return the notes that explain marked cells, if so many cells can repeat them."""
    said = " ".join(note for note in grid.notes if note.startswith(MARK))
    marked = sum(MARK in cell for column in (*grid.labels, *grid.columns) for cell in column.cells)
    return said if marked * len(said) <= _REPEATED else ""


def _pages(grid: Grid) -> list[Grid]:
    """Return `grid` in parts that fit on paper, where there is no scrolling and no linking."""
    if grid.flowing:
        return [grid]
    return split(replace(grid, anchors=()), _PAPER - (_WORDS if grid.texts else 0))


def _breadth(grid: Grid) -> int:
    """Return a table's approximate least width: the step of `_STEPS` that it reaches, in rem."""
    columns = (*grid.labels, *grid.columns)
    wide = sum(column.width * _LETTER + _PADDING for column in columns)
    wide += _SENTENCE if grid.texts else 0
    return max((step for step in _STEPS if step <= wide), default=0)


def _cell_width(grid: Grid) -> int:
    """Return the width of a table's widest cell, in characters."""
    return max((column.width for column in (*grid.labels, *grid.columns)), default=0)


def _mark_code(text: str) -> Markup:
    """Return `text` escaped, with backticks as code."""
    parts = _CODE.split(text)
    marked = [
        Markup("<code>{}</code>").format(part) if nth % 2 else Markup("{}").format(part)
        for nth, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def _facts(finding: Finding) -> list[tuple[str, str]]:
    """Return the facts that a reader must know before any number."""
    facts = [("study", finding.study), ("run", finding.run)]
    facts += [("instrument", finding.instrument), ("machine", finding.machine)]
    return [(name, visible(value)) for name, value in facts]


def _guide(finding: Finding) -> str:
    """Return a paragraph on how to read the page."""
    other = f"The numbers were recorded by the instrument {visible(finding.instrument)}."
    words = [_INSTRUMENTS.get(finding.instrument, other)]
    if finding.instrument == "insn" and "image" in finding.environment:
        words = [_SERVICES]
    if finding.cells:
        words.append(
            "In the tables each row is a configuration, which is one exact state of the machine. "
            "Each metric has its value and the difference from the baseline that the table names. "
            "The darker a difference, the larger its ratio to the baseline."
        )
    return " ".join(words)


def _terms(finding: Finding) -> Sequence[tuple[str, str]]:
    match finding:
        case Bill():
            return (*reading_guide(finding), *(BOTH_TERMS if finding.counted_on else ()))
        case Traces():
            return trace_terms(finding)
        case Calls():
            return hotspot_terms(finding)
        case StudyFinding():
            return hotspot_terms(finding) if finding.hotspots else ()
        case _:
            return ()


def _sections(finding: Finding, *, drawn: bool) -> list[Section]:
    if isinstance(finding, Bills):
        return _several(finding, drawn=drawn)
    made = charts(finding) if drawn else Charts()
    measured = _measured_sections(finding, made)
    match finding:
        case Bill():
            return [*_sections_of_bill(finding, drawn=drawn), *measured]
        case Calls():
            return [*_hotspots(finding), *measured]
        case Traces():
            return [*_trace_section(finding), *measured]
        case StudyFinding():
            return [
                *_hotspots(finding),
                *measured,
                *_successive_section(finding),
                *_recorder_section(finding, drawn=drawn),
                *_published_section(finding, made),
            ]


def _sections_of_bill(finding: Bill, *, drawn: bool) -> Iterable[Section]:
    if isinstance(finding, Advised):
        yield from _choice_sections(finding, drawn=drawn)
    yield from _advice_section(finding)
    yield from _bill_sections(finding)
    yield from _both(finding)
    yield from _accounting_section(finding)
    yield from _search_section(finding)


def _choice_sections(finding: Advised, *, drawn: bool) -> Iterable[Section]:
    choice = finding.choice
    _, *said = choice_sentences(choice)
    grids = given_up_grids(choice)
    if said or grids:
        yield Section("choice", "What to give up", tuple(said), grids=grids)
    if choice.frontier:
        yield Section(
            "frontier",
            "What larger and smaller budgets keep",
            tuple(choice_notes(choice)),
            charts=tuple(frontier_charts(finding)) if drawn else (),
            grids=(frontier_grid(choice),),
        )


def _advice_section(finding: Bill) -> Iterable[Section]:
    if finding.advice is not None:
        yield Section("budget", "Within the budget", tuple(advice_lines(finding.advice)))


def _bill_sections(finding: Bill) -> Iterable[Section]:
    tables = tuple(bill_grids(finding, _LISTED))
    yield Section("bill", "The bill", grids=tables[:1])
    matrix = tuple(_matrix(finding))
    yield Section("controls", "Control by control", grids=tables[1:], folded=matrix)


def _both(finding: Bill) -> Iterable[Section]:
    if finding.counted_on:
        grids = both_grids(finding, _LISTED, accounts_of(finding))
        yield Section("both", "Both numbers", grids=tuple(grids))


def _accounting_section(finding: Bill) -> Iterable[Section]:
    accounting = finding.accounting
    if accounting:
        yield Section(
            "accounting",
            "Every rule of the benchmark",
            (accounting_line(accounting),),
            grids=(kinds_grid(accounting),),
            folded=tuple(rules_grids(accounting)),
        )


def _search_section(finding: Bill) -> Iterable[Section]:
    if finding.search is not None:
        _, *lines = search_lines(finding.search)
        yield Section("search", "How the culprits were found", tuple(lines))


def _hotspots(finding: StudyFinding | Calls) -> Iterable[Section]:
    if finding.hotspots:
        grids = [grid for one in finding.hotspots for grid in hotspot_grids(one)]
        if isinstance(finding, Calls):
            grids = [
                grid
                for one in finding.hotspots
                for grid in (*hotspot_grids(one), *control_grids(finding, one.metric))
            ]
        yield Section(
            "functions",
            "Where the cost arises",
            (FLAMES_GUIDE,),
            flames=tuple(graphs(finding)),
            listings=tuple(listings(finding)),
            grids=tuple(grids),
        )


def _trace_section(finding: Traces) -> Iterable[Section]:
    sums = (sum_line(one) for one in shown_traces(finding))
    yield Section(
        "lanes",
        "Who runs when",
        (LANES_GUIDE, *sums),
        lanes=tuple(drawings(finding)),
        grids=tuple(
            grid for one in shown_traces(finding) for grid in (share_grid(one), order_grid(one))
        ),
    )


def _measured_sections(finding: Finding, drawn: Charts) -> Iterable[Section]:
    failures = failures_of(finding)
    if finding.cells or failures:
        grids = (
            *summary_grids(finding),
            *(_fit_width(for_page(it)) for it in run_matrices(finding)),
        )
        shown, folded = ((), grids) if isinstance(finding, Bill) else (grids, ())
        title = "What was measured"
        yield Section("measured", title, charts=drawn.run, grids=shown, folded=folded)
    if isinstance(finding, Bill) and finding.unmeasured:
        yield Section("unmeasured", "Not measured", tuple(unmeasured_lines(finding)))
    if isinstance(finding, StudyFinding) and failures:
        failed = count(len(failures), "trial")
        yield Section("failed", f"{failed} failed", failures=reasons(finding))


def _successive_section(finding: StudyFinding) -> Iterable[Section]:
    grids = successive_grids(finding)
    if grids:
        axis = visible(finding.successive or "")
        said = "Each level is compared with the one before it; = is the same to the last digit."
        yield Section("changes", f"From {axis} to {axis}", (said,), grids=tuple(grids))


def _recorder_section(finding: StudyFinding, *, drawn: bool) -> Iterable[Section]:
    seen = (*counter_grids(finding), *loss_grids(finding), *lookup_grids(finding))
    folded = (*share_grids(finding), *event_grids(finding))
    if seen or folded:
        yield Section(
            "beside",
            "What the recorders saw",
            charts=tuple(share_charts(finding)) if drawn else (),
            grids=seen,
            folded=folded,
            pictures=tuple(timeline_charts(finding)) if drawn else (),
        )


def _published_section(finding: StudyFinding, drawn: Charts) -> Iterable[Section]:
    figures = (
        *(for_page(matrix) for matrix in published_matrices(finding)),
        *range_grids(finding),
        *mean_grids(finding),
    )
    if figures:
        yield Section(
            "published",
            published_title(finding),
            published_notes(finding),
            charts=drawn.published,
            grids=figures,
        )


def _several(finding: Bills, *, drawn: bool) -> list[Section]:
    """Return the bills side by side, then each by itself."""
    lines, grids = tuple(common_lines(finding)), (totals_grid(finding),)
    each = [
        _section_of_several(section, number, one)
        for number, one in enumerate(finding.bills, 1)
        for section in _sections(one, drawn=drawn)
    ]
    return [Section("several", "Side by side", lines, grids=grids), *each]


def _section_of_several(section: Section, number: int, bill: Bill) -> Section:
    """Return a section of one of several bills, with links unlike those of the others."""

    def apart(chart: Chart) -> Chart:
        return replace(
            chart, panels=tuple(rename_ids(svg, f"bill{number}") for svg in chart.panels)
        )

    def prefix_anchors(grid: Grid) -> Grid:
        anchors = tuple(name and f"bill{number}-{name}" for name in grid.anchors)
        return replace(grid, title=f"{visible(bill.profile)}: {grid.title}", anchors=anchors)

    return replace(
        section,
        name=f"{section.name}-{number}",
        title=f"{bill_line(bill)}. {section.title}",
        charts=tuple(map(apart, section.charts)),
        grids=tuple(map(prefix_anchors, section.grids)),
        folded=tuple(map(prefix_anchors, section.folded)),
        pictures=tuple(map(apart, section.pictures)),
    )


def _matrix(finding: Bill) -> Iterable[Grid]:
    """Yield the table of every cost, unless the itemised table already has them all."""
    grid = matrix_grid(finding)
    if len(grid.groups) > FEW or grid.rows > _LISTED:
        above = {f"control-{number}" for number in range(1, _LISTED + 1)}  # linked to there
        anchors = ("" if name in above else name for name in grid.anchors)
        yield replace(grid, anchors=tuple(anchors))


def _fit_width(grid: Grid) -> Grid:
    return grid if len(grid.groups) <= _ROOMY else without_optional(grid)


def _environment(finding: Finding) -> list[tuple[str, str]]:
    facts = finding.environment
    known = [(label, facts[key]) for key, label in _FACTS.items() if key in facts]
    others = sorted(item for item in facts.items() if item[0] not in _FACTS)
    return [(visible(name), visible(value)) for name, value in (*known, *others)]


def _commands(finding: Finding) -> list[str]:
    """Return the commands that repeat the measurement and that show it again."""
    return [*_repeat_command(finding), _shell(["hardcost", "report", finding.run])]


def _repeat_command(finding: Finding) -> list[str]:
    """Return the command line and its folder; for a run without them, an equivalent."""
    if finding.command:
        there = [_shell(["cd", finding.folder])] if finding.folder else []
        return [*there, _shell(finding.command)]
    workloads = dict.fromkeys(cell.workload for cell in finding.cells)
    workloads |= dict.fromkeys(failure.workload for failure in failures_of(finding))
    named = ["--workload", ",".join(map(str, workloads))] if workloads else []
    chosen = [*named, "--machine", finding.machine, "--instrument", finding.instrument]
    if isinstance(finding, Bill):
        verb = "advise" if isinstance(finding, Advised) else "bill"
        return [_shell(["hardcost", verb, finding.profile, *chosen])]
    study = finding.study
    if isinstance(finding, StudyFinding) and finding.scale is not None:
        study = study.removesuffix(f"-{finding.scale}")
        chosen = ["--scale", finding.scale, *chosen]
    return [_shell(["hardcost", "run", study, *chosen])]


def _shell(words: Sequence[str]) -> str:
    return visible(shlex.join(words))
