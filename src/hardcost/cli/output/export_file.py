"""Files that are written for other programs, and the messages about them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from auditrules.cli import results
from auditrules.library import files
from hardcost.analysis.finding_text import finding_from_text
from hardcost.cli.console import data
from hardcost.cli.console.console import note
from hardcost.cli.input import requests
from hardcost.controls.control import Profile
from hardcost.errors import InputError, StoreError
from hardcost.mechanisms.export import Exported
from hardcost.mechanisms.registry import ALL
from hardcost.profiles.decision import Decision, read_decision
from hardcost.show.exports.rows import Row, rows
from hardcost.store import read_only
from hardcost.store.record import Record
from hardcost.store.store import Store
from hardcost.supply.packages.debian import package_root
from hardcost.units import count, visible

TABLE_ENDINGS = {".csv": "csv", ".parquet": "parquet", ".md": "markdown"}
"""The formats of tables, by the ends of their files' names."""

WAIVER_ENDINGS = {".csv": "csv", ".md": "markdown", ".json": "oscal"}
"""The formats of waivers, by the ends of their files' names."""


def form(out: Path, format: str | None, endings: Mapping[str, str], *, raw: bool) -> str:  # noqa: A002  (the option's name)
    """Return the form of a file: as it was asked for, else by its name; csv on standard output.

    Raises:
        InputError: The name does not say which.
    """
    found = format or ("csv" if str(out) == "-" else endings.get(out.suffix.lower()))
    if found is None:
        raise InputError(
            f"the name {out} does not say which format it is",
            hint=f"end it in {', '.join(endings)}, or give --format",
        )
    return requests.form_of(found, raw=raw)


# Runs ---------------------------------------------------------------------------------------------


def write_runs(store: Path, out: Path, form: str) -> None:
    """Write every run, bill and trial of a store as one table.

    Raises:
        InputError: There is no store.
        StoreError: It can't be read, or the file can't be written.
    """
    if not store.exists():
        raise InputError(f"there is no store {store}", hint="`hardcost run` and `bill` make one")
    found = [*_of_runs(store), *_of_trials(store)]
    results.write(out, data.content_of_rows(form, found))
    if str(out) != "-":
        note(f"written: {out} ({len(found):,} rows)")


def _of_runs(store: Path) -> Iterator[Row]:
    """Yield the rows of each finished run, the newest first; a damaged one is left out, noted."""
    found = read_only.runs(store)
    unchecked = sum(one.unchecked for one in found.runs)
    if unchecked:
        note(f"{count(unchecked, 'run')} with rows of an older hardcost, which kept no digests")
    for damage in found.lost:
        note(f"left out: {damage}")
    for run in found.runs:
        if run.finding is None:
            continue
        try:
            finding = finding_from_text(run.finding)
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
                configuration=str(record.role),
                workload=str(record.workload),
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


# Profiles -----------------------------------------------------------------------------------------


def require_controls(made: Exported, profile: Profile) -> Exported:
    """Return an export.

    Raises:
        InputError: It has nothing; the hint names the exports that have some of the controls.
    """
    if not made.controls:
        verbs = [one.export_verb for one in ALL if one.export_verb and one.export(profile).controls]
        known = " and ".join(f"`hardcost export {verb}`" for verb in (*verbs, "ansible"))
        raise InputError(
            f"the profile {profile.name} has no {made.what} that can be exported",
            hint=f"{known} can write it",
        )
    return made


def to_file(profile: Profile, made: Exported, out: Path, *, force: bool) -> None:
    """Write a profile as a file; one that is there takes --force."""
    files.check_new(out, force=force)
    _write_and_say(profile, made, out)


def to_folder(out: Path, texts: Mapping[str, str], *, force: bool) -> None:
    """Write files by their paths in a folder."""
    _folder(out, force=force)
    for at, text in texts.items():
        _make_folder((out / at).parent)
        results.write(out / at, text.encode())


def _folder(out: Path, *, force: bool) -> None:
    """Make the folder to write to; one that holds something takes --force."""
    _make_folder(out)
    if any(out.iterdir()) and not force:
        raise InputError(f"the folder {out} is not empty", hint="--force writes into it")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{folder} can't be made: {error.strerror}") from error


def _write_and_say(profile: Profile, made: Exported, out: Path) -> None:
    """Write a file, and list the controls that it lacks."""
    results.write(out, made.text.encode())
    where = "" if str(out) == "-" else f" to {out}"
    say(profile, made.controls, made.left, where)


def say(profile: Profile, controls: int, left: Iterable[tuple[str, str]], where: str) -> None:
    """Say on stderr which file was written, and which controls it lacks."""
    note(f"{count(controls, 'control')} of {profile.name} written{where}")
    for name, why in left:
        note(f"not in it: {name}: {why}")
    for remark in profile.notes:
        note(remark)


# Decisions ----------------------------------------------------------------------------------------


def decision(path: Path) -> Decision:
    """Return the decision of a file.

    Raises:
        InputError: It is none, or gives up nothing.
    """
    read = read_decision(path, package_root)
    if not read.given_up:
        raise InputError(
            f"{path} gives up nothing: it has no [[given_up]]",
            hint="`hardcost advise -o DECISION.toml` writes one",
        )
    return read


def write_new(out: Path, text: str, *, force: bool) -> None:
    """Write a file; one that is there takes --force."""
    files.check_new(out, force=force)
    results.write(out, text.encode())


def place_in_words(out: Path) -> str:
    """Return the words of a note on where a file is."""
    return "" if str(out) == "-" else f" in {visible(str(out))}"


def note_all(lines: Iterable[str]) -> None:
    """Print each line as a note."""
    for line in lines:
        note(visible(line))
