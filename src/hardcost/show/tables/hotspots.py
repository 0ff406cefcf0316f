"""Hotspots on a terminal: for each metric, the functions in which its cost arises."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from rich.console import ConsoleRenderable

from hardcost.model.finding.calls import CLOCK, Calls, Hotspots, OfControl, Own, Process, Stack
from hardcost.model.finding.study import StudyFinding
from hardcost.show.sentences.hotspots import (
    LONGEST,
    digits_for,
    digits_of,
    function_name,
    hotspots_answer,
)
from hardcost.show.tables.layout import (
    Column,
    ColumnGroup,
    Grid,
    GridText,
    Layout,
    RowText,
    Terms,
    TextLines,
    Verbatim,
)
from hardcost.show.tables.run import conditions_line, instrument_and_machine, note_lines
from hardcost.show.tables.source_listing import listing_of
from hardcost.show.text import number, percent, shorten, signed_number
from hardcost.units import count, visible

_TOP = 20
_TRACED = 3
_WHERE = 5
_TERMS = (
    ("own", "how many more instructions the function itself executes"),
    ("total", "the same, including all that it calls; a recursive call counts once"),
    ("[unknown]", "code without a symbol, such as that of stripped programs"),
    ("[file not known]", "functions of the kernel whose source file hardcost does not know"),
    ("[vdso]", "the kernel's code that runs in the program"),
)
_SEVERAL_TERMS = (
    ("insn", "what the processors execute together, but for what they do while they are idle"),
    ("idle", "instructions of a loop that runs where no process wants to"),
)


def hotspots_table(finding: Calls, top: int = _TOP) -> ConsoleRenderable:
    """Return hotspots for a terminal: each metric's `top` functions, and who calls the first."""
    parts: list[ConsoleRenderable] = [TextLines(hotspots_answer(finding).sentences)]
    parts.append(
        TextLines(
            (
                f"{visible(finding.title)}; {instrument_and_machine(finding)}",
                *conditions_line(finding),
            )
        )
    )
    for one in finding.hotspots:
        parts += map(GridText, hotspot_grids(one, top))
        parts += map(GridText, control_grids(finding, one.metric))
        if one.source is not None:
            listing = listing_of(one, one.source)
            parts.append(Verbatim((listing.title, *listing.lines)))
        callers = tuple(caller_lines(one))
        if callers:
            parts.append(TextLines(callers))
    if finding.notes:
        parts.append(TextLines(tuple(note_lines(finding))))
    parts.append(Terms(hotspot_terms(finding)))
    return Layout(tuple(parts))


def hotspot_terms(finding: Calls | StudyFinding) -> tuple[tuple[str, str], ...]:
    """Return the meanings of words in hotspots."""
    several = any(one.processors for one in finding.hotspots)
    return (*(_SEVERAL_TERMS if several else ()), *_TERMS)


def hotspot_grids(one: Hotspots, top: int = _TOP) -> Iterator[Grid]:
    """Yield who executes a metric, if these are several processes, and in which functions."""
    if len([process for process in one.processes if process.name != CLOCK]) > 1:
        yield _parts_grid(one, "process", "other processes", one.processes, top)
    if one.places:
        yield _parts_grid(one, "subsystem", "other subsystems", one.subsystems, top)
    yield _function_grid(one, top)
    if one.processors:
        yield _processor_grid(one)


def _processor_grid(one: Hotspots) -> Grid:
    """Return what each of several processors executes, and which functions execute more there."""
    many = one.processors
    sides = (
        ("busy", [it.busy_before for it in many], [it.busy_after for it in many]),
        ("idle", [it.idle_before for it in many], [it.idle_after for it in many]),
    )
    return Grid(
        title=f"{_title(one)}, by processor",
        labels=(Column("processor", tuple(str(it.number) for it in many)),),
        groups=tuple(
            ColumnGroup(
                name,
                (
                    Column("before", tuple(_amount(part, one) for part in before)),
                    Column("after", tuple(_amount(part, one) for part in after)),
                ),
            )
            for name, before, after in sides
        ),
        texts=tuple(RowText("", "", _moved_functions(it.functions, digits_of(one))) for it in many),
        text_header="functions that execute more",
    )


def _parts_grid(one: Hotspots, what: str, others: str, parts: Sequence[Process], top: int) -> Grid:
    """Return the parts whose cost changed most; the sum of all is the metric's cost."""
    shown, rest = parts[:top], parts[top:]
    rows = [(function_name(process.name), process.before, process.after) for process in shown]
    if rest:
        sides = (math.fsum(process.before for process in rest), math.fsum(p.after for p in rest))
        rows.append((count(len(rest), f"other {what}", others), *sides))
    rows.append(("all", one.value, one.value + one.cost))
    names, before, after = zip(*rows, strict=True)
    moved = [b - a for a, b in zip(before, after, strict=True)]
    share = [percent(part / one.cost) if one.cost else "" for part in moved]
    return Grid(
        title=f"{_title(one)}, by {what}",
        labels=(Column(what, names, left=True),),
        groups=(
            ColumnGroup(
                "", (Column("cost", tuple(_difference_text(part, one) for part in moved)),)
            ),
            ColumnGroup("", (Column("share", tuple(share)),)),
            ColumnGroup("", (Column("before", tuple(_amount(part, one) for part in before)),)),
            ColumnGroup("", (Column("after", tuple(_amount(part, one) for part in after)),)),
        ),
        lines=frozenset({len(names) - 1}),
    )


def control_grids(finding: Calls, metric: str) -> Iterator[Grid]:
    """Yield in which functions the cost of each control arises on a metric, if that is known."""
    found = [one for one in finding.by_control if one.metric == metric]
    dear = sorted((one for one in found if one.cost), key=lambda one: -one.cost)
    if found:
        unit = next((one.unit for one in finding.hotspots if one.metric == metric), "")
        free = len(found) - len(dear)
        yield Grid(
            title=f"{visible(metric)}, {visible(unit)}, by control",
            labels=(Column("cost", tuple(signed_number(one.cost, _digits(one)) for one in dear)),),
            groups=(),
            texts=tuple(_text(one) for one in dear),
            text_header="control, and the functions that execute more with it",
            notes=(f"{count(free, 'other control')} made no difference.",) if free else (),
        )


def _digits(one: OfControl) -> int:
    return digits_for([one.cost, *(function.own for function in one.functions)])


def _text(one: OfControl) -> RowText:
    moved = _moved_functions(one.functions, _digits(one))
    return RowText(visible(one.control), visible(one.place or ""), moved)


def _moved_functions(functions: Sequence[Own], digits: int) -> str:
    """Return the first functions with what they execute more, and the sum of the others."""
    parts = [
        f"{function_name(function.function)} {signed_number(function.own, digits)}"
        for function in functions[:_WHERE]
    ]
    rest = math.fsum(function.own for function in functions[_WHERE:])
    if len(functions) > _WHERE:
        others = count(len(functions) - _WHERE, "other")
        parts.append(f"{others} {signed_number(rest, digits)}")
    return ", ".join(parts)


def _title(one: Hotspots) -> str:
    title = f"{visible(one.workload)}: {visible(one.metric)}"
    return f"{title}, {visible(one.unit)}, {visible(one.before)} against {visible(one.after)}"


def _function_grid(one: Hotspots, top: int = _TOP) -> Grid:
    """Return the functions whose own cost changed most; their sum is the metric's cost."""
    changed = [function for function in one.functions if function.own]
    shown, rest = changed[:top], changed[top:]
    shown += [
        function
        for function in sorted(one.functions, key=lambda each: -abs(each.total))[:top]
        if function.total and function not in shown and len(changed) <= top
    ]
    names = [function_name(function.function) for function in shown]
    own = [_difference_text(function.own, one) for function in shown]
    total = [_difference_text(function.total, one) for function in shown]
    before = [_amount(function.own_before, one) for function in shown]
    after = [_amount(function.own_after, one) for function in shown]
    if rest:
        names.append(f"{count(len(rest), 'other function')}")
        own.append(_difference_text(math.fsum(function.own for function in rest), one))
        total.append("")
        before.append(_amount(math.fsum(function.own_before for function in rest), one))
        after.append(_amount(math.fsum(function.own_after for function in rest), one))
    names.append("all")
    own.append(_difference_text(one.cost, one))
    total.append("")
    before.append(_amount(one.value, one))
    after.append(_amount(one.value + one.cost, one))
    title = f"{visible(one.workload)}: {visible(one.metric)}"
    return Grid(
        title=f"{title}, {visible(one.unit)}, {visible(one.before)} against {visible(one.after)}",
        labels=(Column("function", tuple(names), left=True),),
        groups=(
            ColumnGroup("", (Column("own", tuple(own)), Column("total", tuple(total)))),
            ColumnGroup("own", (Column("before", tuple(before)), Column("after", tuple(after)))),
        ),
        lines=frozenset({len(names) - 1}),
    )


def caller_lines(one: Hotspots) -> Iterator[str]:
    """Yield the stack under which each of the first functions' cost arises most."""
    for function in one.functions[:_TRACED]:
        if not function.own:
            continue
        stack = max(
            (stack for stack in one.stacks if stack.functions[-1] == function.function),
            key=lambda stack: (abs(stack.after - stack.before), stack.functions),
        )
        if len(stack.functions) > 1:
            moved = signed_number(stack.after - stack.before, digits_of(one))
            yield f"{function_name(function.function)}, {moved} of it under: {_path(stack)}"


def _path(stack: Stack) -> str:
    return " > ".join(shorten(visible(name), LONGEST) for name in stack.functions[:-1])


def _amount(value: float, one: Hotspots) -> str:
    return number(value, digits_of(one))


def _difference_text(value: float, one: Hotspots) -> str:
    return signed_number(value, digits_of(one))
