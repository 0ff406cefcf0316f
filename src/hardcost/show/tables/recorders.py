"""Observations of the recorders, as tables: processor time by process, losses, lookups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from hardcost.analysis.recorders.observations import (
    EVENTS,
    OTHERS,
    Amounts,
    LoadCounts,
    Shares,
    amounts_of_instrument,
    counts_during_load,
    cpu_shares,
)
from hardcost.instruments import processors
from hardcost.model.finding.study import StudyFinding
from hardcost.model.workload import Workload
from hardcost.show.tables.layout import Column, ColumnGroup, Grid, numbers
from hardcost.show.text import MISSING, percent
from hardcost.units import visible

_PROCESSES = 12
"""Most processes that are named; the others share one row."""

_LEAST = 0.01
"""The share of the busy time from which a process is named."""

_LOSSES = {
    "records": "records",
    "lost": "lost",
    "backlog_peak": "backlog",
    "bytes_logged": "bytes",
    "syslog_records": "syslog",
    "syslog_dropped": "dropped",
    "syslog_limited": "limited",
    "forward_records": "forwarded",
    "forward_dropped": "not forwarded",
}
"""The totals of `audit` that are shown, with their headings."""

_MEANT = {
    "lost": "lost: records lost by the kernel's audit queue",
    "backlog_peak": "backlog: that queue's greatest length",
    "bytes_logged": "bytes: written to the audit log",
    "syslog_records": "syslog: records that syslog wrote",
    "syslog_dropped": "dropped: records that syslog did not write",
    "syslog_limited": "limited: messages dropped by its rate limit, by its own count",
    "forward_records": "forwarded: records that the receiver wrote",
    "forward_dropped": "not forwarded: syslog's records that the receiver did not write",
}

_REQUESTS = (
    "lookups/request: by all processes under load, for each request, mail or transaction; "
    "the other columns also include the time before and after the load"
)

_OF_PROCESSORS = (
    "length: of what was measured, in parallel instructions; the next three are parts of what all"
    " processors could have executed meanwhile, and `given away` is what they did not execute"
    " because they waited for a lock; busy: of each processor, the busiest first"
)

_LOOKUPS = {
    "hits": "hits",
    "misses": "misses",
    "allocations": "allocations",
    "reclaims": "reclaims",
    "frees": "frees",
}


def observed_grids(finding: StudyFinding) -> list[Grid]:
    """Return every table of the recorders except that of events by key."""
    return [
        *processor_grids(finding),
        *share_grids(finding),
        *loss_grids(finding),
        *lookup_grids(finding),
    ]


def processor_grids(finding: StudyFinding) -> list[Grid]:
    """Return one table of what became of the time of several processors, if there were any."""
    seen = _by_workload(amounts_of_instrument(finding, processors.NAME))
    if not seen:
        return []
    busy = [name for name in seen[0].totals if name.startswith(processors.BUSY)]
    shares = [
        share
        for one in seen
        for name, share in one.totals.items()
        if name.startswith(processors.SHARE)
    ]
    columns = [numbers("length", [_total(one, processors.LENGTH) for one in seen])]
    for name in (processors.WORK, processors.IDLE, processors.GIVEN):
        parts = [_total(one, name) / _length(one) / len(busy) for one in seen]
        columns.append(ColumnGroup("", (Column(name, tuple(map(_percent, parts))),)))
    each = [[one.totals.get(name, 0.0) / _length(one) for name in busy] for one in seen]
    ordered = [" ".join(_percent(part) for part in sorted(one, reverse=True)) for one in each]
    columns.append(ColumnGroup("", (Column("busy, each", tuple(ordered)),)))
    spread = 100 * (max(shares) / min(shares) - 1)
    turn = _total(seen[0], processors.TURN)
    how = (
        f"turns were of {turn:,.0f} instructions; the shares of the processors differ by at most"
        f" {spread:.1f} %"
    )
    title = f"{len(busy)} processors, while they were measured"
    return [Grid(title, _labels(seen), tuple(columns), notes=(_OF_PROCESSORS, how))]


def _length(amounts: Amounts) -> float:
    return amounts.totals.get(processors.LENGTH, 0.0) or math.nan


def share_grids(finding: StudyFinding) -> list[Grid]:
    """Return, for each workload, each process's share of the busy time by configuration."""
    shares = cpu_shares(finding)
    grids = []
    for workload in dict.fromkeys(share.workload for share in shares):
        own = [share for share in shares if share.workload == workload]
        names, parts = largest_shares(own)
        groups = [
            ColumnGroup(
                "",
                (
                    Column(
                        visible(share.configuration),
                        (*map(_percent, column), _percent(share.idle)),
                    ),
                ),
            )
            for share, column in zip(own, parts, strict=True)
        ]
        title = share_title(finding, workload)
        processes = Column("process", (*map(visible, names), "(idle, of that time)"), left=True)
        note = _own_cost(finding, "cpu", workload)
        lines = frozenset({len(names)})
        grids.append(Grid(title, (processes,), tuple(groups), lines=lines, notes=note))
    return grids


def share_title(finding: StudyFinding, workload: Workload) -> str:
    """Return the title of a workload's shares."""
    seen = [one for one in finding.observed if one.workload == workload]
    measured = any(step.is_measured for one in seen for step in one.steps)
    when = "while it was measured" if measured else "in the whole trial"
    return f"{visible(workload)}: share of the busy processor time by process, {when}"


def largest_shares(shares: Sequence[Shares]) -> tuple[list[str], list[list[float]]]:
    """Return the processes with the largest shares, and each configuration's shares of them.

    The last is `(others)` if some are left out, here or by the guest; each configuration's shares
    add up to 1.
    """
    largest: dict[str, float] = {}
    for share in shares:
        for name, part in share.parts.items():
            largest[name] = max(part, largest.get(name, 0))
    names = sorted(largest, key=lambda name: (-largest[name], name))
    known = [name for name in names if name != OTHERS]
    named = [name for name in known[:_PROCESSES] if largest[name] >= _LEAST]
    columns = [[share.parts.get(name, 0.0) for name in named] for share in shares]
    left = [name for name in names if name not in named]
    if left:
        for share, column in zip(shares, columns, strict=True):
            column.append(math.fsum(share.parts.get(name, 0.0) for name in left))
        named = [*named, OTHERS]
    return named, columns


def loss_grids(finding: StudyFinding) -> list[Grid]:
    """Return one table of what audit and syslog recorded, lost and dropped."""
    seen = _by_workload(amounts_of_instrument(finding, "audit"))
    seen = [amounts for amounts in seen if amounts.totals.keys() & _LOSSES.keys()]
    if not any(amounts.totals.get(key) for amounts in seen for key in _LOSSES):
        return []
    shown = {key: title for key, title in _LOSSES.items() if any(key in a.totals for a in seen)}
    if not shown:
        return []
    columns = [numbers(title, [_total(a, key) for a in seen]) for key, title in shown.items()]
    title = "Audit records, and what was lost or dropped, in a trial"
    meanings = [meaning for key, meaning in _MEANT.items() if key in shown]
    notes = (*(["; ".join(meanings)] if meanings else []), *_own_cost(finding, "audit"))
    return [Grid(title, _labels(seen), tuple(columns), notes=notes)]


def event_grids(finding: StudyFinding) -> list[Grid]:
    """Return, for each workload, audit events by key and configuration."""
    seen = amounts_of_instrument(finding, "audit")
    grids = []
    for workload in dict.fromkeys(a.workload for a in seen):
        own = [a for a in seen if a.workload == workload]
        keys = sorted({key for a in own for key in a.totals if key.startswith(EVENTS)})
        if not keys:
            continue
        names = tuple(visible(key.removeprefix(EVENTS)) or "(no key)" for key in keys)
        groups = [
            numbers(visible(a.configuration), [a.totals.get(key, 0.0) for key in keys]) for a in own
        ]
        title = f"{visible(workload)}: audit events by key, in a trial"
        grids.append(Grid(title, (Column("key", names, left=True),), tuple(groups)))
    return grids


def lookup_grids(finding: StudyFinding) -> list[Grid]:
    """Return one table of lookups in SELinux's access vector cache, if there were any."""
    seen = _by_workload(amounts_of_instrument(finding, "avc"))
    seen = [amounts for amounts in seen if amounts.totals.get("lookups")]
    if not seen:
        return []
    columns = [numbers("lookups", [_total(a, "lookups") for a in seen])]
    notes = list(_own_cost(finding, "avc"))
    loads = counts_during_load(finding, "avc", "lookups")
    if loads:
        own = [loads.get((a.configuration, a.workload), LoadCounts(0, 0.0)) for a in seen]
        columns.append(numbers("lookups/request", [load.each for load in own]))
        notes.insert(0, _REQUESTS)
    columns += [
        numbers(title, [_total(a, key) for a in seen])
        for key, title in _LOOKUPS.items()
        if any(key in a.totals for a in seen)
    ]
    title = "SELinux's access vector cache, in a trial"
    return [Grid(title, _labels(seen), tuple(columns), notes=tuple(notes))]


def _by_workload(seen: Sequence[Amounts]) -> list[Amounts]:
    order = {workload: nth for nth, workload in enumerate(dict.fromkeys(a.workload for a in seen))}
    return sorted(seen, key=lambda amounts: order[amounts.workload])


def _labels(seen: Sequence[Amounts]) -> tuple[Column, ...]:
    configurations = tuple(visible(amounts.configuration) for amounts in seen)
    workloads = tuple(visible(amounts.workload) for amounts in seen)
    labels = (Column("configuration", configurations, left=True),)
    if len(set(workloads)) == 1:
        return labels
    return (*labels, Column("workload", workloads, left=True))


def _total(amounts: Amounts, name: str) -> float:
    return amounts.totals.get(name, math.nan)


def _percent(share: float) -> str:
    return percent(share) if math.isfinite(share) else MISSING


def _own_cost(
    finding: StudyFinding, instrument: str, workload: Workload | None = None
) -> tuple[str, ...]:
    """Return the recorder's own cost, relative to the recorded time."""
    parts = [
        one.own_ticks / one.times[-1]
        for one in finding.observed
        if one.instrument == instrument
        and workload in {None, one.workload}
        and one.times
        and one.times[-1] > 0
    ]
    return tuple(_watching_words(instrument, parts)) if parts else ()


def _watching_words(instrument: str, parts: Sequence[float]) -> Iterable[str]:
    yield f"the recorder ({instrument}) took at most {100 * max(parts):.2g}% of the recorded time"
