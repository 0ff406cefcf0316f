"""The price of a control in words: what it is, what it adds to each call, and how that is known."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hardcost.model.finding.price import (
    CallPrice,
    ControlPrice,
    KernelPrice,
    dearest_call,
    dearest_program,
    dearest_start,
    is_call,
    is_program,
    is_start,
)
from hardcost.show.text import ABSENT, decimals, percent, signed_number
from hardcost.units import Unit, count, join_in_prose, storage

SHOWN = 12
"""Most calls that are shown without being asked for all."""

_REFUSED = -0.5  # share: a call that does what it is asked for does not become that much cheaper
_WORTH_SAYING = 0.01  # share of the boot or of memory
_SMALL = 100  # instructions, below which a decimal says something
_DONE = {
    ("filecopy", "copy"): "copying files",
    ("filecopy", "remove"): "removing files",
    ("unixbench", "execl"): "starting a program",
    ("unixbench", "shell-1"): "a shell script",
    ("apache-worker", "ab-16"): "a web request",
    ("postfix", "delivered-8"): "a mail",
}
"""What programs do, in words, by workload and metric."""

_STARTED = {
    "until-ready": "the boot",
    "static": "static memory",
    "slab": "slab memory",
    "page-tables": "page tables",
}
"""The parts of a system's start, in words, by metric."""

_INTERVAL = "Behind ± is half the width of the 95 % interval."
_START_MEANT = (
    "The boot is all instructions until the guest is ready for work; memory is what its kernel then"
    " has taken for itself."
)

_OWNERS = {"kernel": "every kernel has", "distribution": "Debian has"}
_DEFAULTS = {
    "kernel": "The kernel's default: every system has it already.",
    "distribution": "Debian's default: it has it already.",
}


@dataclass(frozen=True)
class PriceWords:
    """A control's price for a reader: lines, a table with its head, and further lines."""

    title: str
    about: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    known: tuple[str, ...]


def words_of(one: ControlPrice, *, whole: bool = False) -> PriceWords:
    """Return a price in words; with `whole`, with every call that costs something."""
    rows, more = _table(one, whole=whole)
    return PriceWords(
        title=f"{one.control}, {one.what}: {answer_of(one)}",
        about=tuple(_about(one)),
        rows=rows,
        known=(*more, *how_known(one), *_measure(one)),
    )


def _about(one: ControlPrice) -> Iterator[str]:
    yield from good_for(one)
    if one.demanded_by:
        yield f"Asked for by {_some(one.demanded_by)}."
    if one.same_as:
        yield f"The same as {join_in_prose(one.same_as)}."


def good_for(one: ControlPrice) -> Iterator[str]:
    """Yield what a control is good for, whose default it is, and what it is priced by."""
    if one.protects:
        yield one.protects
    if one.default is not None:
        yield _DEFAULTS[one.default]
    if one.uses is not None:
        yield f"Priced by {one.uses}, which does the same without building a kernel."


def answer_of(one: ControlPrice) -> str:
    """Return the price in a sentence."""
    if one.why is not None:
        return f"no price, {one.why}"
    priced = _priced(one)
    if not priced:
        return f"no price, {one.kernels[0].why}"
    if is_unknown(one):
        return f"cost not known, {_reason(one)}"
    calls = [call for kernel in priced for call in kernel.calls]
    most, program = dearest_call(priced), dearest_program(priced)
    started = dearest_start(priced)
    if most is None and program is None:
        refused = _refused(calls)
        number = max(len(kernel.calls) + kernel.free for kernel in priced)
        rest = f", but {join_in_prose(refused)} can fail with it" if refused else ""
        none = f"nothing to any of {count(number, 'call')}"
        if started is not None:
            return f"adds {none}, but {_to_start(started)}{rest}"
        return f"free, it adds {none}{rest}"
    clear = started if started is not None and started.share >= _WORTH_SAYING else None
    parts = (_to_call(most), _to_program(program), "" if clear is None else _to_start(clear))
    adds = join_in_prose([part for part in parts if part])
    more = "" if one.uncounted is None else ", and more that no count shows"
    had = "" if one.default is None else f", which {_OWNERS[one.default]} already"
    return f"adds up to {adds}{had}{more}{_first_of_all(calls)}"


def _to_call(most: CallPrice | None) -> str:
    if most is None:
        return ""
    adds = percent(most.share) if most.base else f"{signed_number(most.cost)} instructions"
    return f"{adds} to a call ({most.metric})"


def _to_program(most: CallPrice | None) -> str:
    return "" if most is None else f"{percent(most.share)} to what programs do ({name_of(most)})"


def _to_start(most: CallPrice) -> str:
    of = percent(most.share) if most.base else storage(round(most.cost))
    return f"{of} to {name_of(most)}"


def name_of(one: CallPrice) -> str:
    """Return what a price is of: a call by its name, what a program does, a part of the start."""
    if is_call(one.workload):
        return one.metric
    if is_start(one.workload):
        return _STARTED.get(one.metric, one.metric)
    return _DONE.get((one.workload.name, one.metric), f"{one.workload.name} {one.metric}")


def is_unknown(one: ControlPrice) -> bool:
    """Say whether a control's cost lies in what no instruction count shows, and none is seen."""
    priced = _priced(one)
    grows = dearest_call(priced) is not None or dearest_program(priced) is not None
    return one.uncounted is not None and not grows


def _reason(one: ControlPrice) -> str:
    """Return why a count misses the cost, without what it means for a number."""
    return (one.uncounted or "").partition(": ")[0]


def _priced(one: ControlPrice) -> list[KernelPrice]:
    return [kernel for kernel in one.kernels if kernel.known is not None]


def _refused(calls: Sequence[CallPrice]) -> tuple[str, ...]:
    """Return the calls that take so much less with a control that they must have been refused."""
    return tuple(dict.fromkeys(call.metric for call in calls if call.share < _REFUSED))


def _first_of_all(calls: Sequence[CallPrice]) -> str:
    """Return what having any audit rule adds besides; "" where that is not meant."""
    shares = [call.first / call.base for call in calls if call.first and call.base]
    return f"; the first rule of all adds up to {percent(max(shares))} besides" if shares else ""


@dataclass(frozen=True)
class PriceRow:
    """What a control adds to one call, or to one thing that programs do, kernel by kernel.

    A price is None where it adds nothing, and where that is `unknown`.
    """

    prices: tuple[CallPrice | None, ...]
    unknown: tuple[bool, ...]

    @property
    def oldest(self) -> CallPrice:
        """The price on the oldest kernel that has one."""
        return next(one for one in self.prices if one is not None)

    @property
    def name(self) -> str:
        """What it is the price of."""
        return name_of(self.oldest)

    @property
    def largest(self) -> float:
        """The largest share by which it grows or shrinks."""
        return max(abs(one.share) for one in self.prices if one is not None)


def call_rows(priced: Sequence[KernelPrice]) -> list[PriceRow]:
    """Return a row for each call that costs something on any kernel, the dearest first."""
    found = _rows([kernel.calls for kernel in priced], [kernel.missing for kernel in priced])
    return sorted(found, key=lambda row: -row.largest)


def program_rows(priced: Sequence[KernelPrice]) -> list[PriceRow]:
    """Return a row for each thing that programs do; without a price it was not measured."""
    return list(_rows([kernel.programs for kernel in priced], None))


def start_rows(priced: Sequence[KernelPrice]) -> list[PriceRow]:
    """Return a row for boot and memory where they change; without a price it was not measured."""
    every = _rows([kernel.start for kernel in priced], None)
    return [row for row in every if row.largest]


def _rows(
    by_kernel: Sequence[Sequence[CallPrice]], missing: Sequence[Collection[str]] | None
) -> Iterator[PriceRow]:
    known = [{(str(one.workload), one.metric): one for one in of} for of in by_kernel]
    for key in dict.fromkeys(key for of in reversed(known) for key in of):
        unknown = [True for _ in known] if missing is None else [key[0] in of for of in missing]
        yield PriceRow(tuple(of.get(key) for of in known), tuple(unknown))


def _table(one: ControlPrice, *, whole: bool) -> tuple[tuple[tuple[str, ...], ...], list[str]]:
    """Return the rows of calls that cost something, with the head; and what they leave out."""
    priced = _priced(one)
    every = [] if is_unknown(one) else call_rows(priced)
    shown = every if whole else every[:SHOWN]
    first = has_first(priced)
    rows = [(*_cells(row), *((_first(row.oldest),) if first else ())) for row in shown]
    done, unclear = ([], []) if is_unknown(one) else _programs(priced)
    started = [_cells(row) for row in start_rows(priced)]
    rows += [*done, *started]
    left_out = _left_out(priced, every[len(shown) :]) if every else ()
    said = [
        *left_out,
        *unclear,
        *([_INTERVAL] if done else []),
        *([_START_MEANT] if started else []),
    ]
    if not rows:
        return (), said
    head = ("adds to", *(f"Linux {kernel.version}" for kernel in priced))
    return ((*head, "the first rule") if first else head, *rows), said


def _programs(priced: Sequence[KernelPrice]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return a row for each thing that programs do and that clearly changes, and what does not."""
    rows, unclear = [], []
    for row in program_rows(priced):
        known = [one for one in row.prices if one is not None]
        if any(one.is_clear for one in known):
            rows.append(_cells(row))
        else:
            width = max((one.high - one.low) / one.base for one in known if one.base)
            unclear.append(f"{row.name} (±{percent(width / 2)})")
    return rows, [f"No clear change to {join_in_prose(unclear)}."] if unclear else []


def has_first(priced: Sequence[KernelPrice]) -> bool:
    """Say whether prices have what the first rule of all adds besides."""
    return any(call.first is not None for kernel in priced for call in kernel.calls)


def _cells(row: PriceRow) -> tuple[str, ...]:
    cells = zip(row.prices, row.unknown, strict=True)
    return (row.name, *(cell_of(one, unknown=unknown) for one, unknown in cells))


def cell_of(one: CallPrice | None, *, unknown: bool) -> str:
    """Return a price as a table has it."""
    if one is None:
        return ABSENT if unknown else "0"
    return amount_of(one)


def amount_of(call: CallPrice) -> str:
    """Return a cost with its share of the call, such as `+697 (+19.6%)`.

    Of what a program does it is the share with half the width of its interval.
    """
    if is_start(call.workload):
        return _amount_of_start(call)
    if is_program(call.workload) and call.base:
        return f"{_signed_percent(call.share)} ±{percent((call.high - call.low) / call.base / 2)}"
    share = f" ({_signed_percent(call.share)})" if call.base else ""
    return f"{signed_number(call.cost, _digits(call.cost))}{share}"


def _amount_of_start(call: CallPrice) -> str:
    """Return such as `+3.9 MiB (+27.0%)`, or `+120 million (+16.7%)` of instructions."""
    if not call.cost:
        return "0"
    sign, size = "-" if call.cost < 0 else "+", abs(call.cost)
    amount = storage(round(size)) if call.unit == Unit.BYTES else f"{size / 1e6:,.1f} million"
    return f"{sign}{amount}{f' ({_signed_percent(call.share)})' if call.base else ''}"


def _digits(cost: float) -> int:
    """Return the decimals of a cost: one where it is small, none where that would say nothing."""
    return min(decimals([cost]), 1) if abs(cost) < _SMALL else 0


def _first(call: CallPrice) -> str:
    return "" if call.first is None else signed_number(call.first)


def _signed_percent(share: float) -> str:
    text = percent(abs(share))
    return f"{'-' if share < 0 else '+'}{text}"


def _left_out(priced: Sequence[KernelPrice], more: Sequence[PriceRow]) -> Iterator[str]:
    """Yield the number of calls that the table leaves out: costing less, or nothing."""
    if more:
        largest = percent(max(row.largest for row in more))
        yield f"{count(len(more), 'more call')} by up to {largest} (--all shows them)."
    free = [kernel for kernel in priced if kernel.free]
    if len({kernel.free for kernel in free}) == 1:
        yield f"Nothing to {count(free[0].free, 'other call')}."
    elif free:
        each = (f"{kernel.free} on Linux {kernel.version}" for kernel in free)
        yield f"Nothing to the other calls: {join_in_prose(each)}."


def how_known(one: ControlPrice) -> Iterator[str]:
    """Yield how a price is known, where there is none, and what it lacks."""
    yield from _lacking(one)
    priced = [] if is_unknown(one) else _priced(one)
    calls = [call for kernel in priced for call in kernel.calls]
    for name in _refused(calls):
        yield f"{name} takes so much less since it is refused, or finds nothing to do: no saving."
    if any(_REFUSED <= call.share < 0 for call in calls):
        yield "Below zero is less work, which may have moved to another call."
    if priced:
        yield from _in_company(priced)
        yield _by_what(priced)
    if calls:
        yield "What each call is: `hardcost list workloads calls=`"
    if one.uncounted is not None and not is_unknown(one):
        yield f"Caution: {one.uncounted}."
    for caveat in one.caveats:
        yield f"Note: {caveat.rstrip('.')}."


def _lacking(one: ControlPrice) -> Iterator[str]:
    """Yield which kernels of several have no price, and what was not measured on the others."""
    for kernel in one.kernels:
        if kernel.known is not None:
            for workload, why in kernel.missing.items():
                yield f"Not known on Linux {kernel.version}: {workload}: {why}."
        elif any(it.known is not None for it in one.kernels):
            yield f"No price on Linux {kernel.version}: {kernel.why}."


def _in_company(priced: Sequence[KernelPrice]) -> Iterator[str]:
    """Yield what a control adds within profiles, on the oldest kernel of which that is known."""
    kernel = next((one for one in priced if one.within), None)
    if kernel is None:
        return
    alone = {(one.workload, one.metric): one for one in kernel.calls}
    for of in kernel.within:
        where = f"Within the settings of {of.profile} (Linux {kernel.version})"
        if not of.calls:
            yield f"{where} it adds as much to these calls as by itself."
            continue
        pairs = ((alone[one.workload, one.metric], one) for one in of.calls)
        by_itself, there = max(pairs, key=lambda pair: abs(pair[0].cost - pair[1].cost))
        inside = f"{signed_number(there.cost)} instructions to {there.metric}"
        yield f"{where} it adds {inside}, where by itself it adds {signed_number(by_itself.cost)}."


def _measure(one: ControlPrice) -> Iterator[str]:
    if one.measure is not None:
        yield f"To measure it on your kernel: {one.measure}"


def _by_what(priced: Sequence[KernelPrice]) -> str:
    """Return how prices are known: by what, when, and what they were added to."""
    measured = [one for one in priced if one.known == "measured"]
    if measured:
        against = join_in_prose(dict.fromkeys(one.against for one in measured))
        dates = join_in_prose(dict.fromkeys(one.date for one in measured))
        without = measured[0].without
        how = (
            f"Measured: what it adds, by itself, to {against}"
            if without is None
            else f"Measured: what {without} saves in {against}"
        )
        return f"{how}; instructions, counted under QEMU ({dates}), which are not time."
    (one, *_) = priced
    last = (
        "; the last column is what the first rule of all adds to the call besides, whichever it is"
        if one.calls
        else ""
    )
    return (
        f"Predicted, from constants measured on Linux {one.kernel} ({one.date}): what it adds to a"
        f" typical call {one.against}{last}. Instructions are not time."
    )


def _some(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    shown = 4
    more = len(names) - shown
    return "; ".join(names) if more <= 0 else f"{'; '.join(names[:shown])} and {more} more"
