"""The failed trials: which, why, and the tail of the guest's log."""

from __future__ import annotations

from dataclasses import dataclass

from hardcost.model.finding.bill import Itemised
from hardcost.model.finding.failure import Failure
from hardcost.model.finding.study import StudyFinding
from hardcost.units import count, visible

_LOG_LINES = 60
"""Lines of a log's tail that are shown."""


@dataclass(frozen=True)
class Reason:
    """Trials that failed for the same reason; `log` is the tail of the first one's log, by line.

    All text is escaped for a terminal or page, except the line ends between `log`'s lines.
    """

    trials: tuple[str, ...]
    reason: str
    hint: str
    log: tuple[str, ...]


def reasons(finding: StudyFinding) -> tuple[Reason, ...]:
    """Return the run's failures, equal ones merged."""
    alike: dict[tuple[str, str | None], list[Failure]] = {}
    for failure in finding.failures:
        alike.setdefault((failure.reason, failure.hint), []).append(failure)
    seeds = {(f.seed, f.repetition) for f in finding.failures}
    several = len(seeds) > 1 or any(cell.trials > 1 for cell in finding.cells)
    return tuple(
        Reason(
            trials=tuple(_trial(failure, several=several) for failure in failures),
            reason=visible(reason),
            hint=visible(hint or ""),
            log=_end(failures[0].log),
        )
        for (reason, hint), failures in alike.items()
    )


def failure_lines(finding: StudyFinding) -> list[str]:
    """Return the failures and their reasons; nothing if no trial failed."""
    if not finding.failures:
        return []
    lines = [f"{count(len(finding.failures), 'trial')} failed:"]
    for one in reasons(finding):
        lines += [f"  {trial}" for trial in one.trials]
        lines.append(f"    {one.reason}")
        if one.hint:
            lines.append(f"    hint: {one.hint}")
    return lines


def unmeasured_lines(bill: Itemised) -> list[str]:
    """Return which controls a bill is without, and why; nothing if all were measured."""
    if not bill.unmeasured:
        return []
    return [
        f"{count(len(bill.unmeasured), 'control')} not measured, and in no sum:",
        *(f"  {visible(one.named)}: {visible(one.reason)}" for one in bill.unmeasured),
    ]


def _trial(failure: Failure, *, several: bool) -> str:
    name = f"{visible(failure.configuration)}, {visible(failure.workload)}"
    if several:
        name += f", seed {failure.seed}, repetition {failure.repetition}"
    return name


def _end(log: str) -> tuple[str, ...]:
    lines = log.replace("\r\n", "\n").strip("\n").split("\n")[-_LOG_LINES:]
    return tuple(visible(line.replace("\t", "    ")) for line in lines) if log.strip() else ()
