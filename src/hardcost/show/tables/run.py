"""The table of a run: configurations down, metrics across, published figures below."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TypeVar

from rich.console import ConsoleRenderable

from hardcost.analysis.estimates.geometric_mean import cost_ratio
from hardcost.analysis.study.axes import numeric_axis
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.head import Found, Head
from hardcost.model.finding.study import StudyFinding, failures_of, levels_of
from hardcost.model.role import Role
from hardcost.model.workload import Workload
from hardcost.show.sentences.failures import failure_lines
from hardcost.show.sentences.hotspots import hotspots_lines
from hardcost.show.sentences.run import run_answer
from hardcost.show.sentences.single_draws import (
    chance_notes,
    difference,
    draw_difference,
    draw_notes,
    draw_ratio,
    draw_value,
    interval_notes,
)
from hardcost.show.tables.counters import counter_grids
from hardcost.show.tables.layout import Column, GridText, Layout, TextLines
from hardcost.show.tables.matrix import BASE, Matrix, MatrixRow, MatrixText, Metric
from hardcost.show.tables.published import (
    mean_grids,
    published_matrices,
    published_notes,
    published_title,
    range_grids,
)
from hardcost.show.tables.recorders import observed_grids
from hardcost.show.tables.steps import successive_grids
from hardcost.show.tables.workload_families import summary_grids
from hardcost.show.text import ABSENT, MISSING, TO, decimals, interval, ratio
from hardcost.units import Unit, count, is_rate, visible

_SCORED = (
    "options: how many of the catalogue's kernel options the kernel has as recommended; "
    "`hardcost kernel check FILE` lists the missing ones"
)

_WHOLE = {Unit.INSN, Unit.NS}

_FAILED = MatrixRow(("failed", ABSENT, ABSENT))

_Name = TypeVar("_Name")

_HEAT_STEPS = (1.05, 1.25, 2.0, 4.0, 10.0)
"""The ratios at which a cell is shaded one step darker."""


def run_table(finding: StudyFinding) -> ConsoleRenderable:
    """Return all tables of a run for a terminal: what was measured, published figures, notes."""
    parts: list[ConsoleRenderable] = [TextLines(run_answer(finding).sentences)]
    about = [visible(finding.about)] if finding.about else []
    parts.append(TextLines((heading(finding), *about, *conditions_line(finding))))
    parts += [GridText(grid) for grid in summary_grids(finding)]
    parts += [MatrixText(matrix) for matrix in run_matrices(finding)]
    parts += [GridText(grid) for grid in successive_grids(finding)]
    if finding.hotspots:
        title = f"Where that arises, compared with {visible(finding.hotspots[0].before)}:"
        parts.append(TextLines((title, *hotspots_lines(finding))))
    failures = failure_lines(finding)
    if failures:
        parts.append(TextLines(tuple(failures)))
    parts += [GridText(grid) for grid in (*counter_grids(finding), *observed_grids(finding))]
    figures: list[ConsoleRenderable] = [MatrixText(it) for it in published_matrices(finding)]
    figures += [GridText(grid) for grid in (*range_grids(finding), *mean_grids(finding))]
    if figures:
        parts.append(TextLines((published_title(finding), *published_notes(finding))))
        parts += figures
    notes = note_lines(finding)
    return Layout((*parts, TextLines(tuple(notes)))) if notes else Layout(tuple(parts))


def heading(finding: Found) -> str:
    """Return the title of a run, with its study and name."""
    title = visible(finding.title or finding.study)
    return f"{title} (study {visible(finding.study)}, run {visible(finding.run)})"


def conditions_line(finding: Found) -> list[str]:
    """Return a line with what the numbers depend on; none if nothing of it is known."""
    known = finding.environment
    names = {"kernel": "kernel", "qemu": "QEMU", "cpu_model": "processor model"}
    parts = [f"{name} {visible(known[fact])}" for fact, name in names.items() if fact in known]
    return [f"Measured with {', '.join(parts)}."] if parts else []


def note_lines(finding: Finding) -> list[str]:
    """Return the run's notes, escaped."""
    scored = [_SCORED] if _scores_differ(finding, [*levels_of(finding), *finding.scores]) else []
    return [f"Note: {visible(note)}" for note in (*scored, *finding.notes)]


def run_matrices(finding: Finding) -> list[Matrix]:
    """Return a table for each workload: each metric's value and difference from the baseline."""
    workloads = [*(c.workload for c in finding.cells), *(f.workload for f in failures_of(finding))]
    return [_workload_matrix(finding, workload) for workload in dict.fromkeys(workloads)]


def instrument_and_machine(finding: Head) -> str:
    """Return the instrument and machine as a table's title names them."""
    return f"instrument {visible(finding.instrument)}, machine {visible(finding.machine)}"


def _workload_matrix(finding: Finding, workload: Workload) -> Matrix:
    cells = {(c.configuration, c.metric): c for c in finding.cells if c.workload == workload}
    lost = {f.configuration for f in failures_of(finding) if f.workload == workload}
    lost -= {configuration for configuration, _ in cells}
    configurations = _in_plan_order(finding, [*(name for name, _ in cells), *sorted(lost, key=str)])
    metrics = _unique(metric for _, metric in cells)
    units = _unique(cell.unit for cell in cells.values())
    entries = {}
    for nth, metric in enumerate(metrics):
        column = [cells.get((c, metric)) for c in configurations]
        failed = [c in lost for c in configurations]
        for row, entry in enumerate(_entries(column, failed)):
            entries[row, nth] = entry
    baselines = _unique(cell.baseline for cell in cells.values())
    against = visible(baselines[0]) if baselines else "nothing"
    if len(baselines) > 1:
        against = "the configuration named in the row"
    unit = f"{visible(units[0])}, " if len(units) == 1 else ""
    return Matrix(
        f"{visible(workload)}: {unit}{instrument_and_machine(finding)}; differences from {against}",
        _labels(finding, configurations, cells),
        tuple(_metric(metric, cells, alone=len(units) == 1) for metric in metrics)
        or (Metric("result"),),
        ("value", "diff", "ratio"),
        entries or {(row, 0): _FAILED for row in range(len(configurations))},
        # For a whole program the ratio says more than many digits.
        optional=frozenset({"diff" if set(units) <= _WHOLE else "ratio"}),
        heated="ratio" if units and set(units) <= _WHOLE else "diff",
        lines=_line_starts(finding, configurations),
        notes=tuple(_table_notes(finding, workload, lost, baselines)),
    )


def _in_plan_order(finding: Finding, configurations: list[Role]) -> list[Role]:
    """Return each configuration once, in the plan's order if something failed."""
    found = _unique(configurations)
    if not failures_of(finding):
        return found
    order = {name: nth for nth, name in enumerate(levels_of(finding))}
    return sorted(found, key=lambda name: order.get(name, len(order)))


def _labels(
    finding: Finding, configurations: list[Role], cells: Mapping[tuple[Role, str], Cell]
) -> tuple[Column, ...]:
    labels = [Column("configuration", tuple(map(visible, configurations)), left=True)]
    if _scores_differ(finding, configurations):
        labels.append(Column("options", tuple(_score(finding, c) for c in configurations)))
    if len({cell.baseline for cell in cells.values()}) > 1:
        own = tuple(
            _baseline(name, [cell for (of, _), cell in cells.items() if of == name])
            for name in configurations
        )
        labels.append(Column("compared to", own, left=True))
    return tuple(labels)


def _metric(metric: str, cells: Mapping[tuple[Role, str], Cell], *, alone: bool) -> Metric:
    """Return a metric; `alone` says that the table has one unit, named in its title."""
    unit = next(cell.unit for (_, name), cell in cells.items() if name == metric)
    return Metric(visible(metric), "" if alone else visible(unit))


def _table_notes(
    finding: Finding, workload: Workload, lost: set[Role], baselines: list[Role]
) -> Iterable[str]:
    """Yield notes on unknown values in a workload's table, and where higher is better."""
    failures = [f for f in failures_of(finding) if f.workload == workload]
    own = [cell for cell in finding.cells if cell.workload == workload]
    rates = _unique(visible(cell.metric) for cell in own if is_rate(cell.unit))
    if rates:
        yield f"higher is better for {', '.join(rates)}"
    yield from draw_notes(own)
    yield from interval_notes(own)
    yield from chance_notes(own)
    if lost:
        yield "failed: the reasons are below"
    for name in _unique(f.configuration for f in failures if f.configuration not in lost):
        trials = sum(f.configuration == name for f in failures)
        yield f"{visible(name)}: without {count(trials, 'failed trial')}"
    for name in baselines:
        if name in lost:
            yield f"the baseline {visible(name)} failed, so differences and ratios are unknown"


def _scores_differ(finding: Finding, configurations: Iterable[Role]) -> bool:
    """Say whether the kernels differ in their scores."""
    return len({finding.scores.get(configuration) for configuration in configurations}) > 1


def _score(finding: Finding, configuration: Role) -> str:
    """Return how many of the catalogue's kernel options are set as recommended."""
    score = finding.scores.get(configuration)
    return ABSENT if score is None else f"{score.met} of {score.of}"


def _line_starts(finding: Finding, configurations: list[Role]) -> frozenset[int]:
    """Return the rows where another line of the run's numeric axis begins."""
    axis = numeric_axis(levels_of(finding))
    if axis is None:
        return frozenset()
    lines = [axis.line_of(configuration) for configuration in configurations]
    starts = frozenset(n for n in range(1, len(lines)) if lines[n] != lines[n - 1])
    return starts if len(starts) * 3 <= len(lines) else frozenset()


def _entries(cells: list[Cell | None], failed: list[bool]) -> list[MatrixRow]:
    """Return the text of a metric in each row, with one number of decimals for all."""
    present = [cell for cell in cells if cell is not None]
    digits = decimals(
        v for cell in present for v in (cell.value, cell.low, cell.high, cell.difference)
    )
    return [
        _FAILED
        if lost
        else MatrixRow((_value(cell, digits), _difference(cell, digits), _ratio(cell)), _heat(cell))
        for cell, lost in zip(cells, failed, strict=True)
    ]


def _value(cell: Cell | None, digits: int) -> str:
    if cell is None:
        return ABSENT
    if cell.resolution:
        return draw_value(cell, digits)
    return interval(cell.value, cell.low, cell.high, digits)


def _difference(cell: Cell | None, digits: int) -> str:
    if cell is None:
        return ABSENT
    if _is_baseline(cell):
        return BASE
    return draw_difference(cell, digits) if cell.resolution else difference(cell, digits)


def _ratio(cell: Cell | None) -> str:
    if cell is None:
        return ABSENT
    if _is_baseline(cell):
        return BASE
    if cell.resolution and math.isfinite(cell.ratio):
        return draw_ratio(cell)
    middle, low, high = map(ratio, (cell.ratio, cell.ratio_low, cell.ratio_high))
    if low == high == middle or MISSING in {low, middle, high}:
        return middle
    return f"{middle} ({low}{TO}{high})"


def _is_baseline(cell: Cell) -> bool:
    return cell.configuration == cell.baseline


def _heat(cell: Cell | None) -> int:
    return 0 if cell is None else sum(cost_ratio(cell) >= step for step in _HEAT_STEPS)


def _baseline(configuration: Role, cells: list[Cell]) -> str:
    own = _unique(cell.baseline for cell in cells)
    return ", ".join("itself" if name == configuration else visible(name) for name in own)


def _unique(names: Iterable[_Name]) -> list[_Name]:
    return list(dict.fromkeys(names))
