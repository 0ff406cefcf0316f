"""`hardcost export runs`: everything in the store as one table."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from hardcost.analysis.saved import unpacked
from hardcost.cli import dataout, options
from hardcost.cli.console import note
from hardcost.errors import InputError, StoreError
from hardcost.report.exports.datarows import Row, rows
from hardcost.store import glance
from hardcost.store.store import Store
from hardcost.units import count

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hardcost.store.record import Record

_ENDINGS = {".csv": "csv", ".parquet": "parquet", ".md": "markdown"}


def runs(out: Path, format: str | None, store: Path, *, raw: bool = False) -> None:  # noqa: A002
    """Write every run, bill and trial of the store as one table."""
    form = format or ("csv" if str(out) == "-" else _ENDINGS.get(out.suffix.lower()))
    if form is None:
        raise InputError(
            f"the name {out} does not say which format it is",
            hint=f"end it in {', '.join(_ENDINGS)}, or give --format",
        )
    form = options.form_of(form, raw=raw)
    dataout.check(form, to_stdout=str(out) == "-")
    if not store.exists():
        raise InputError(f"there is no store {store}", hint="`hardcost run` and `bill` make one")
    found = [*_of_runs(store), *_of_trials(store)]
    dataout.write(out, dataout.content(form, found))
    if str(out) != "-":
        note(f"written: {out} ({len(found):,} rows)")


def _of_runs(store: Path) -> Iterator[Row]:
    """Yield the rows of each finished run, the newest first; a damaged one is left out, noted."""
    found = glance.runs(store)
    unchecked = sum(one.unchecked for one in found.runs)
    if unchecked:
        note(f"{count(unchecked, 'run')} with rows of an older hardcost, which kept no digests")
    for damage in found.lost:
        note(f"left out: {damage}")
    for run in found.runs:
        if run.finding is None:
            continue
        try:
            finding = unpacked(run.finding)
        except StoreError as error:
            note(f"left out: {run.name}: {error}")
            continue
        yield from rows(finding, run.started)


def _of_trials(store: Path) -> Iterator[Row]:
    """Yield the rows of every trial; a damaged record is left out, with a note."""
    with Store(store, read_only=True) as opened:
        for run, record in opened.records():
            yield from _of_trial(run, record)
        for damage in opened.damaged:
            note(f"left out: {damage}")


def _of_trial(run: str, record: Record) -> Iterator[Row]:
    """Yield a row for each metric of a trial, and for each perturbation of it: the median."""
    about = record.environment
    for one in record.measured:
        for number, samples in {record.repetition: one.samples, **one.perturbed}.items():
            yield Row(
                run=run,
                kind="trial",
                instrument=record.instrument,
                kernel=about.get("kernel"),
                qemu=about.get("qemu"),
                cpu_model=about.get("cpu_model"),
                configuration=record.configuration,
                workload=record.workload,
                metric=one.metric,
                unit=str(one.unit),
                value=float(statistics.median(samples)),
                minimum=float(min(samples)),
                trials=1,
                fired=None if one.fired is None else sum(one.fired.values()),
                seed=record.seed,
                repetition=number,
                samples=len(samples),
                lost=one.lost,
                host_seconds=record.host_seconds,
            )
