"""A table of a report as a value, and its layout on a terminal.

The same `Grid` becomes text here and HTML in `html`. On a terminal, groups of columns that don't
fit side by side are stacked; nothing is cut off.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderResult
from rich.table import Table
from rich.text import Text

from hardcost.show.text import ABSENT, decimals, number, phrases, plain

_GAP = 2
"""Spaces between columns."""

_INDENT = 5
"""Spaces before a row's text if that is printed below its numbers."""

_NARROWEST = 20  # characters for numbers, however wide labels are

_TIED = "\ue000"
"""Ties an option to its value when lines are broken; `visible` keeps it out of all names."""


@dataclass(frozen=True)
class Column:
    """A header and a cell for each row; `heat` (0 to 5) shades cells where there are colours.

    `bars` are the lengths (0 to 1) of bars below the cells, drawn on a page. An `optional` column
    is left out if the table would otherwise have to be split.
    """

    header: str
    cells: tuple[str, ...]
    left: bool = False
    optional: bool = False
    heat: tuple[int, ...] = ()
    bars: tuple[float, ...] = ()

    @property
    def width(self) -> int:
        """Return the width in character cells."""
        return max(map(cell_len, (self.header, *self.cells)))


@dataclass(frozen=True)
class ColumnGroup:
    """Columns under one heading, such as a metric."""

    title: str
    columns: tuple[Column, ...]

    @property
    def width(self) -> int:
        """Return the width in character cells, heading included, without the gap before it."""
        return max(_joined_width(self.columns), cell_len(self.title))


def numbers(title: str, values: Sequence[float]) -> ColumnGroup:
    """Return a group of one column, its numbers with at most two decimals; one may be absent."""
    digits = min(decimals([value for value in values if math.isfinite(value)]), 2)
    cells = tuple(number(v, digits) if math.isfinite(v) else ABSENT for v in values)
    return ColumnGroup("", (Column(title, cells),))


@dataclass(frozen=True)
class RowText:
    """The text of a row: its name, its location, and further remarks.

    The text of a `sum` over other rows is printed beside the numbers if there is room.
    """

    name: str
    place: str = ""
    more: str = ""
    sum: bool = False


@dataclass(frozen=True)
class Grid:
    """A table: `labels` are repeated in each part of it, `groups` may be spread over parts.

    `texts` has an entry for each row, or none at all. A line is drawn before each row of `lines`.
    `anchors` are names for linking to rows: one for each row ("" for no anchor), or none at all.
    On paper a `flowing` table has each row's numbers below its text, on as many lines as they take;
    others are printed in parts that fit.
    """

    title: str
    labels: tuple[Column, ...]
    groups: tuple[ColumnGroup, ...]
    texts: tuple[RowText, ...] = ()
    text_header: str = ""
    lines: frozenset[int] = frozenset()
    notes: tuple[str, ...] = ()
    anchors: tuple[str, ...] = ()
    flowing: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return all columns but the labels."""
        return tuple(column for group in self.groups for column in group.columns)

    @property
    def rows(self) -> int:
        """Return the number of rows."""
        columns = (*self.labels, *self.columns)
        return len(columns[0].cells) if columns else 0

    def is_bare(self, row: int) -> bool:
        """Say whether a row has nothing in its columns but the labels."""
        return bool(self.columns) and not any(column.cells[row] for column in self.columns)


def without_optional(grid: Grid) -> Grid:
    """Return `grid` without its optional columns."""
    groups = tuple(
        replace(group, columns=tuple(c for c in group.columns if not c.optional))
        for group in grid.groups
    )
    return replace(grid, groups=tuple(group for group in groups if group.columns))


def split(grid: Grid, width: int) -> list[Grid]:
    """Return `grid` in parts of at most `width` characters each, if every group fits."""
    return [replace(grid, groups=groups) for groups in _pack_groups(grid, width)]


def fewest_parts(grid: Grid, width: int) -> list[tuple[ColumnGroup, ...]]:
    """Spread the groups over as few parts as possible; a group that is too wide has its own."""
    for candidate in (grid, without_optional(grid)):
        parts = _pack_groups(candidate, width)
        if len(parts) == 1:
            break
    return parts


@dataclass(frozen=True)
class Prose(ConsoleRenderable):
    """A paragraph, in ASCII unless the terminal shows more."""

    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(_for(self.text, console, options), style=self.style)


@dataclass(frozen=True)
class TextLines(ConsoleRenderable):
    """Paragraphs without empty lines between them."""

    lines: tuple[str, ...]
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        for line in self.lines:
            yield Prose(line, self.style)


@dataclass(frozen=True)
class Verbatim(ConsoleRenderable):
    """Lines that stay as they are, however long."""

    lines: tuple[str, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines:
            yield Text(_for(line, console, options), no_wrap=True, overflow="ignore")


@dataclass(frozen=True)
class Terms(ConsoleRenderable):
    """Words and their meanings, in two columns."""

    terms: tuple[tuple[str, str], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the terms, meanings wrapped beside them."""
        table = Table.grid(padding=(0, _GAP, 0, 0))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for word, meaning in self.terms:
            table.add_row(
                Text(_for(word, console, options), style="bold"),
                Text(_for(meaning, console, options)),
            )
        yield table


@dataclass(frozen=True)
class GridText(ConsoleRenderable):
    """A `Grid` on a terminal, as wide as the terminal."""

    grid: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        ascii_only = is_plain(console, options)
        grid = _in_ascii(self.grid) if ascii_only else self.grid
        width = options.max_width
        if grid.title:
            yield Text(grid.title, style="bold")
        for nth, part in enumerate(fewest_parts(grid, width)):
            if nth:
                yield Text("")
            shown = _sums_only(grid) if nth else grid
            yield from _lines(shown, part, width, "-" if ascii_only else "─")
        for note in grid.notes:
            yield Text(note, style="dim")


@dataclass(frozen=True)
class Layout(ConsoleRenderable):
    """Paragraphs and tables with an empty line between them."""

    parts: tuple[ConsoleRenderable, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        del console, options
        for nth, part in enumerate(self.parts):
            if nth:
                yield Text("")
            yield part


def render(renderable: ConsoleRenderable, width: int) -> str:
    """Return `renderable` in ASCII on `width` columns, without colours."""
    console = Console(
        file=StringIO(),
        width=width,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
        legacy_windows=False,
        _environ={},  # the user's COLUMNS and NO_COLOR must not change what is written to a file
    )
    with console.capture() as capture:
        console.print(renderable)
    return "\n".join(line.rstrip() for line in capture.get().rstrip("\n").split("\n")) + "\n"


def is_plain(console: Console, options: ConsoleOptions) -> bool:
    """Return whether to write ASCII only: to a pipe, a file or a limited terminal."""
    return options.ascii_only or not console.is_terminal


def _for(text: str, console: Console, options: ConsoleOptions) -> str:
    return plain(text) if is_plain(console, options) else text


def _in_ascii(grid: Grid) -> Grid:
    def column(it: Column) -> Column:
        return replace(it, header=plain(it.header), cells=tuple(map(plain, it.cells)))

    return replace(
        grid,
        title=plain(grid.title),
        labels=tuple(map(column, grid.labels)),
        groups=tuple(
            ColumnGroup(plain(group.title), tuple(map(column, group.columns)))
            for group in grid.groups
        ),
        texts=tuple(
            replace(text, name=plain(text.name), place=plain(text.place), more=plain(text.more))
            for text in grid.texts
        ),
        text_header=plain(grid.text_header),
        notes=tuple(map(plain, grid.notes)),
    )


def _sums_only(grid: Grid) -> Grid:
    """Return `grid` for its second and later parts: the rows' texts are in the first."""
    return replace(grid, texts=tuple(text if text.sum else RowText("") for text in grid.texts))


def _joined_width(columns: Iterable[Column]) -> int:
    widths = [column.width for column in columns]
    return sum(widths) + _GAP * (len(widths) - 1)


def _pack_groups(grid: Grid, width: int) -> list[tuple[ColumnGroup, ...]]:
    room = max(width - _joined_width(grid.labels), _NARROWEST) if grid.labels else width
    parts: list[list[ColumnGroup]] = [[]]
    used = 0
    for group in grid.groups:
        needed = group.width + _GAP
        if parts[-1] and used + needed > room:
            parts.append([])
            used = 0
        parts[-1].append(group)
        used += needed
    return [tuple(part) for part in parts]


def _lines(grid: Grid, groups: tuple[ColumnGroup, ...], width: int, rule: str) -> Iterator[Text]:
    """Yield one part of a table: headings, a rule, rows."""
    columns = [*grid.labels, *(column for group in groups for column in group.columns)]
    widths = _widths(grid, groups)
    total = sum(widths) + _GAP * (len(widths) - 1)
    beside = _fits_beside(grid, width - total - _GAP)
    header = _row([column.header for column in columns], columns, widths)
    if grid.texts and all(beside) and any(not text.sum and text.name for text in grid.texts):
        header += " " * _GAP + grid.text_header
    joined = [_sentence(text) for text, fits in zip(grid.texts, beside, strict=True) if fits]
    if joined:
        total += _GAP + max(map(cell_len, joined))
    if any(group.title for group in groups):
        yield Text(_headings(grid, groups, widths, rule), style="bold", overflow="fold")
    yield Text(header, style="bold", overflow="fold")
    line = rule * min(width, total)
    yield Text(line, style="dim")
    for nth in range(grid.rows):
        if nth in grid.lines:
            yield Text(line, style="dim")
        cells = _row([column.cells[nth] for column in columns], columns, widths)
        if grid.texts and beside[nth]:
            cells += " " * _GAP + _sentence(grid.texts[nth])
        yield Text(cells, overflow="fold")
        if grid.texts and not beside[nth]:
            yield from _below(grid.texts[nth], width)


def _fits_beside(grid: Grid, room: int) -> list[bool]:
    """Return which rows' texts fit beside their numbers: each sum by itself, others all or none."""
    fits = [cell_len(_sentence(text)) <= room for text in grid.texts]
    every = all(fits)
    return [every or (text.sum and fit) for text, fit in zip(grid.texts, fits, strict=True)]


def _widths(grid: Grid, groups: tuple[ColumnGroup, ...]) -> list[int]:
    """Return each column's width; a group narrower than its heading is widened on its left."""
    widths = [column.width for column in grid.labels]
    for group in groups:
        own = [column.width for column in group.columns]
        own[0] += group.width - _joined_width(group.columns)
        widths.extend(own)
    return widths


def _headings(grid: Grid, groups: tuple[ColumnGroup, ...], widths: list[int], rule: str) -> str:
    """Return the line of the groups' headings, each spanning its columns."""
    at = len(grid.labels)
    text = " " * (sum(widths[:at]) + _GAP * max(at - 1, 0))
    for group in groups:
        own = widths[at : at + len(group.columns)]
        space = sum(own) + _GAP * (len(own) - 1)
        text += " " * (_GAP if text else 0)
        if len(group.columns) > 1 and group.title:
            text += _centre_text(f" {group.title} ", space, rule)
        else:
            text += _pad_cell(group.title, space, left=group.columns[0].left)
        at += len(group.columns)
    return text


def _row(cells: list[str], columns: list[Column], widths: list[int]) -> str:
    padded = [
        _pad_cell(cell, width, left=column.left)
        for cell, column, width in zip(cells, columns, widths, strict=True)
    ]
    return (" " * _GAP).join(padded)


def _pad_cell(text: str, width: int, *, left: bool) -> str:
    blanks = " " * max(width - cell_len(text), 0)
    return text + blanks if left else blanks + text


def _centre_text(text: str, width: int, rule: str) -> str:
    """Return `text` with `rule` on both sides, or unchanged if there is no room."""
    free = width - cell_len(text)
    if free < 0:
        return _pad_cell(text.strip(), width, left=False)
    return rule * (free // 2) + text + rule * (free - free // 2)


def _sentence(text: RowText) -> str:
    place = f"  [{text.place}]" if text.place else ""
    more = f"; {text.more}" if text.more else ""
    return f"{text.name}{place}{more}"


def _below(text: RowText, width: int) -> Iterator[Text]:
    """Yield a row's text below its numbers, indented and wrapped."""
    place = f"  [{text.place}]" if text.place else ""
    for words in (text.name + place, text.more):
        if not words:
            continue
        for line in _wrap_words(words, max(width - _INDENT, 1)):
            yield Text(" " * _INDENT + line, style="dim", overflow="fold")


def _wrap_words(words: str, width: int) -> list[str]:
    """Return `words` in lines of at most `width` cells, broken at spaces if possible.

    An option stays on one line with its value, such as `-F` and `auid>=1000`.
    """
    console = Console(file=StringIO(), width=width, _environ={})
    tied = " ".join(phrase.replace(" ", _TIED) for phrase in phrases(words))
    lines = Text(tied).wrap(console, width)
    return [line.plain.rstrip().replace(_TIED, " ") for line in lines]
