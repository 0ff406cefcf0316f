"""The pages of prices: their addresses and contents.

A page's address is made of the control's name alone, so that it stays the same from list to list.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hardcost.model.finding.price import (
    Benchmark,
    CallPrice,
    ControlPrice,
    KernelPrice,
    dearest_call,
    dearest_program,
    dearest_start,
)
from hardcost.show.prices import (
    answer_of,
    call_rows,
    cell_of,
    good_for,
    has_first,
    how_known,
    name_of,
    program_rows,
    start_rows,
)
from hardcost.show.site.rendering import AmountCell, rendered
from hardcost.show.text import percent, signed_number
from hardcost.units import visible

FRONT = "index.html"
_UNFIT = re.compile(r"[^A-Za-z0-9._=+-]+")
_LONGEST = 60  # characters of a name in an address


@dataclass(frozen=True)
class _Link:
    name: str
    address: str


@dataclass(frozen=True)
class _Row:
    """A row of a table of settings or calls."""

    name: str
    cells: tuple[AmountCell, ...]
    address: str = ""
    what: str = ""
    more: str = ""


@dataclass(frozen=True)
class _BenchmarkRow:
    name: str
    cell: AmountCell
    controls: tuple[_Link, ...]


def address_of(control: str) -> str:
    """Return the address of a control's page, which is the same in every site."""
    plain = _UNFIT.sub("-", control).strip("-.")[:_LONGEST]
    if plain != control:
        plain = f"{plain}-{hashlib.sha256(control.encode()).hexdigest()[:8]}"
    return f"controls/{plain}.html"


def pages(prices: Sequence[ControlPrice], benchmarks: Sequence[Benchmark]) -> dict[str, str]:
    """Return the pages by their addresses."""
    known = {one.control: one for one in prices}
    found = {FRONT: _front(prices, benchmarks)}
    for one in prices:
        found[address_of(one.control)] = _control(one, known)
    for benchmark in benchmarks:
        found[_benchmark_address(benchmark)] = _benchmark(benchmark, known)
    return found


def _front(prices: Sequence[ControlPrice], benchmarks: Sequence[Benchmark]) -> str:
    versions = _versions(prices)
    rows = [
        _Row(
            name=visible(one.control),
            cells=tuple(_most(one, version) for version in versions),
            address=address_of(one.control),
            what=one.what,
            more=visible(one.protects),
        )
        for one in prices
    ]
    return rendered(
        "front",
        title="What Linux hardening settings cost",
        front="",
        benchmarks=[_Link(one.title, _benchmark_address(one)) for one in benchmarks],
        columns=[
            ("setting", "text"),
            ("kind", "text"),
            *((f"Linux {version}", "number") for version in versions),
            ("what it is good for", "text"),
        ],
        rows=rows,
    )


def _control(one: ControlPrice, known: Mapping[str, ControlPrice]) -> str:
    priced = [kernel for kernel in one.kernels if kernel.known is not None]
    same = [one.uses] if one.uses is not None else list(one.same_as)
    return rendered(
        "control",
        title=visible(one.control),
        front=f"../{FRONT}",
        answer=f"{one.what.capitalize()}: {answer_of(one)}",
        about=[visible(line) for line in good_for(one)],
        same=[
            _Link(visible(name), address_of(name).partition("/")[2] if name in known else "")
            for name in same
        ],
        columns=[
            ("call", "text"),
            *((f"Linux {kernel.version}", "number") for kernel in priced),
            *((("the first rule", "number"),) if has_first(priced) else ()),
        ],
        rows=list(_price_rows(priced)),
        known=[visible(line) for line in how_known(one)],
        measure=None if one.measure is None else visible(one.measure),
        demanded=[visible(name) for name in one.demanded_by],
    )


def _benchmark(benchmark: Benchmark, known: Mapping[str, ControlPrice]) -> str:
    rows = []
    for control in benchmark.controls:
        own = [known[name] for name in control.controls if name in known]
        cells = [_most(one, None) for one in own]
        cell = max(
            cells, key=lambda it: -1.0 if it.value is None else it.value, default=AmountCell("-")
        )
        links = (_Link(visible(it.control), f"../{address_of(it.control)}") for it in own)
        rows.append(_BenchmarkRow(visible(control.name), cell, tuple(links)))
    return rendered(
        "benchmark",
        title=f"{benchmark.title}: what its controls cost",
        front=f"../{FRONT}",
        source=benchmark.source,
        columns=[("number", "text"), ("the dearest adds", "number"), ("settings", "text")],
        rows=rows,
    )


def _benchmark_address(benchmark: Benchmark) -> str:
    return f"benchmarks/{benchmark.name}.html"


def _versions(prices: Sequence[ControlPrice]) -> tuple[str, ...]:
    """Return the versions of Linux that prices are of, in the order of the lists."""
    return tuple(dict.fromkeys(kernel.version for one in prices for kernel in one.kernels))


def _most(one: ControlPrice, version: str | None) -> AmountCell:
    """Return the largest share that a control adds to a call, else to programs, else to the start.

    On one kernel, or on any.
    """
    priced = [it for it in one.kernels if it.known is not None and version in {None, it.version}]
    if not priced:
        return AmountCell("-")
    most = dearest_call(priced) or dearest_program(priced) or dearest_start(priced)
    if most is None:
        return AmountCell(
            "0%" if one.uncounted is None else "-", 0.0 if one.uncounted is None else None
        )
    return AmountCell(f"{percent(most.share)} ({name_of(most)})", most.share, min(most.share, 1.0))


def _price_rows(priced: Sequence[KernelPrice]) -> Iterator[_Row]:
    """Yield a row for each call that costs something, for what programs do, and for the start."""
    first = has_first(priced)
    for rows in (call_rows(priced), program_rows(priced), start_rows(priced)):
        longest = max((row.largest for row in rows), default=0.0)
        for row in rows:
            known = zip(row.prices, row.unknown, strict=True)
            cells = [_amount(one, longest, unknown=unknown) for one, unknown in known]
            yield _Row(row.name, (*cells, *([_first(row.oldest)] if first else ())))


def _first(one: CallPrice) -> AmountCell:
    return AmountCell("" if one.first is None else signed_number(one.first), one.first)


def _amount(one: CallPrice | None, longest: float, *, unknown: bool) -> AmountCell:
    text = cell_of(one, unknown=unknown)
    if one is None:
        return AmountCell(text, None if unknown else 0.0)
    return AmountCell(text, one.share, max(one.share, 0.0) / longest if longest else 0.0)
