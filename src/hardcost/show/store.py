"""The runs of a store in words: lists of them, checks, and removals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from hardcost.analysis.bill.weights import weighing
from hardcost.analysis.finding_text import upgrade_finding
from hardcost.files import json_value
from hardcost.model.finding.bill import Itemised, Total
from hardcost.model.workload import MetricId, metric_of
from hardcost.show.sentences.amounts import metric_words
from hardcost.show.text import decimals, number, plain, ratio, signed_number
from hardcost.store.check import CheckedRun, Damage, StoreCheck
from hardcost.store.read_only import Listed
from hardcost.store.removal import Chosen, Removal
from hardcost.units import count, storage, visible


@dataclass(frozen=True)
class CheckedStore:
    """The result of a check of a store: its runs, the oldest first, and the damage."""

    store: Path
    runs: tuple[CheckedRun, ...]
    damaged: tuple[Damage, ...]


@dataclass(frozen=True)
class RemovalPlan:
    """The runs that would be removed."""

    would_remove: tuple[Chosen, ...]

    @property
    def words(self) -> list[str]:
        """Which they are; their size leaves out reports and SQLite's overhead."""
        if not self.would_remove:
            return ["nothing to remove"]
        total = storage(sum(one.size for one in self.would_remove))
        return [
            *(f"would remove {_run_words(one)}, {storage(one.size)}" for one in self.would_remove),
            f"would free about {total}, and their reports",
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """Nothing else."""
        return ()


@dataclass(frozen=True)
class RemovedRuns:
    """The outcome of the runs that were to be removed, as in `store.removal.Removal`."""

    store: Path
    gone: tuple[Chosen, ...]
    going_on: tuple[str, ...]
    reports: tuple[str, ...]
    left: tuple[str, ...]
    freed: int
    shrunk: bool

    @property
    def words(self) -> list[str]:
        """Which are gone, and how much space that gave."""
        if not self.gone:
            return ["nothing removed"]
        reports = f", {count(len(self.reports), 'report')}" if self.reports else ""
        return [
            *(f"removed {_run_words(one)}" for one in self.gone),
            f"freed {storage(self.freed)} ({count(len(self.gone), 'run')}{reports})",
        ]

    @property
    def notes(self) -> tuple[str, ...]:
        """Further notes."""
        if self.shrunk or not self.gone:
            return ()
        return ("the store's file keeps its size, since it is in use; new runs fill the space",)


def removal_result(
    store: Path, chosen: tuple[Chosen, ...], done: Removal, *, dry_run: bool
) -> RemovalPlan | RemovedRuns:
    """Return the result of a removal; with `dry_run`, the runs that it would remove."""
    if dry_run:
        return RemovalPlan(chosen)
    lists = (tuple(done.gone), tuple(done.going_on), tuple(done.reports), tuple(done.left))
    return RemovedRuns(store, *lists, done.freed, done.shrunk)


class RunEntry(BaseModel):
    """A run's entry in a list; times are UTC, as ISO 8601."""

    model_config = ConfigDict(frozen=True)

    run: str
    study: str
    started: str
    finished: str | None
    state: Literal["finished", "unfinished"]
    instrument: str
    workloads: tuple[str, ...]
    trials: int
    checked: bool
    failed: int
    headline: str

    @classmethod
    def of(cls, run: Listed) -> RunEntry:
        """Return the entry of a run."""
        found = _finding(run)
        cells = found.get("cells") or []
        workloads = dict.fromkeys([*(cell["workload"] for cell in cells), *run.workloads])
        return cls(
            run=run.name,
            study=run.study,
            started=run.started,
            finished=run.finished,
            state="unfinished" if run.finished is None else "finished",
            instrument=found.get("instrument") or ", ".join(run.instruments),
            workloads=tuple(workloads),
            trials=run.trials,
            checked=not run.unchecked,
            failed=len(found.get("failures") or []),
            headline=_headline(run, found),
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The words of a list below the run's name."""
        lost = f", {self.failed} failed" if self.failed else ""
        state = f"{self.state}{lost}{'' if self.checked else ', unchecked'}"
        started = self.started[:19].replace("T", " ")
        on = ", ".join(filter(None, (self.instrument, *self.workloads)))
        measured = f"{count(self.trials, 'trial')} measured"
        about = "; ".join(filter(None, (f"{started} UTC", state, measured, on)))
        return about, self.headline


def check_words(found: StoreCheck) -> tuple[list[list[str]], list[str], list[str]]:
    """Return a check's result: rows of a table of the runs, lines, and notes."""
    rows: list[list[str]] = []
    if found.runs:
        head = ["run", "state", "trials", "unchecked", "damaged"]
        numbers = [(one.trials, one.unchecked, one.damaged) for one in found.runs]
        each = zip(found.runs, numbers, strict=True)
        rows = [head, *([visible(one.name), one.state, *map(str, of)] for one, of in each)]
    lines = [
        line
        for one in found.damaged
        for line in (f"damaged: {visible(one.what)}", f"  remedy: {visible(one.remedy)}")
    ] or [f"{count(len(found.runs), 'run')}: nothing is damaged"]
    notes = []
    if any(one.unchecked or one.state == "unchecked" for one in found.runs):
        notes.append("what is unchecked was written by an older hardcost, which kept no digests")
    return rows, lines, notes


def _run_words(one: Chosen) -> str:
    state = "unfinished" if one.finished is None else "finished"
    return f"{visible(one.name)} ({state}, {count(one.trials, 'trial')})"


def _finding(run: Listed) -> dict[str, Any]:
    """Return the run's saved finding; nothing where that can't be read."""
    try:
        found = json_value(run.finding or "{}")
    except ValueError:
        return {}
    return upgrade_finding(found) if isinstance(found, dict) else {}


def _headline(run: Listed, found: dict[str, Any]) -> str:
    """Return the subject of the run, and the largest figure in it."""
    if run.finished is None:
        return "--resume continues it" if run.trials else ""
    is_bill = "totals" in found
    said = _dearest(found) if is_bill else _furthest(found)
    about = found["profile"] if is_bill else found.get("title") or run.study
    return f"{about}: {said}" if said else str(about)


def _dearest(bill: dict[str, Any]) -> str:
    """Return the control that costs most, by the weights that the bill itself is ordered by."""
    totals = tuple(
        Total(
            metric_of(one["metric"]), one["unit"], one["baseline"], one["with_profile"], one["cost"]
        )
        for one in bill["totals"]
    )
    weights = {metric_of(one): by for one, by in (bill.get("weights") or {}).items()}
    weighed = weighing(Itemised(profile="", totals=totals, items=(), weights=weights))
    costs: dict[str, dict[MetricId, float]] = {}
    for item in bill["items"]:
        costs.setdefault(item["control"], {})[metric_of(item["metric"])] = item["cost"]
    means = {control: weighed.mean(own) for control, own in costs.items()}
    dearest = max(means, key=lambda one: abs(means[one]), default="")
    on = "" if weighed.leading is None else f" on {metric_words(weighed.leading)}"
    if not dearest or not means[dearest]:
        return f"no control costs anything{on}"
    unit = next(one.unit for one in totals if one.metric in weighed.weights)
    cost = signed_number(means[dearest], decimals([means[dearest]]))
    return f"most expensive: {dearest}, {cost} {unit}{on}"


def _furthest(found: dict[str, Any]) -> str:
    """Return the cell that is furthest from its baseline, by how many times."""
    every = found.get("cells") or []
    cells = [it for it in every if it["configuration"] != it["baseline"] and it["ratio"] > 0]
    if not cells:
        return ", ".join(
            f"{cell['metric']} {number(cell['value'], decimals([cell['value']]))} {cell['unit']}"
            for cell in every[:1]
        )
    cell = max(cells, key=lambda cell: max(cell["ratio"], 1 / cell["ratio"]))
    times = plain(ratio(cell["ratio"]))
    return f"{cell['configuration']} {times} on {cell['metric']} ({cell['workload']})"
