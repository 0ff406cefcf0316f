"""Rounds of damage to a store for `damage.py`, and the rules that judge what hardcost does.

A round copies a store of several runs, damages it in one way, and asks for everything in it: the
report of each run, the list, the export, a run that takes its trials from it, and the check. The
machine is `fake`, so that nothing boots. A number may differ only where it is said: by a status
that is documented, or by a note. Nothing outside the store's folder may change.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

from hardcost.cli.command import hardcost
from hardcost.errors import HardcostError
from tests.studies import of_rules

PRECIOUS = "precious"
_LIMIT_SECONDS = 120
_LEFT_OUT = "left out"
_NO, _USAGE, _FAILED = 1, 2, 3
_ON = ("--machine", "fake", "--format", "json")


class HangsError(Exception):
    """A verb took too long."""


@dataclass(frozen=True)
class Said:
    """What a verb printed, its exit status, and the error that it ended with."""

    status: int
    out: str
    err: str

    def cells(self) -> str:
        """Return the numbers of a run."""
        return json.dumps(json.loads(self.out)["cells"])


class _Judged:
    """What the verbs of a round came to: whether they noticed the damage, and what is wrong."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self._seen: set[str] = set()

    def heard(self, verb: str, said: Said, refusals: tuple[int, ...] = (_USAGE, _FAILED)) -> Said:
        """Take note of how a verb ended, and return what it said."""
        if said.status not in {0, *refusals}:
            self.wrong.append(f"{verb} ended with {said.status}: {said.err}")
        if "its folder is a link" in said.err:
            self._seen.add("no page")  # nothing is wrong with the store
        elif said.status in refusals:
            self._seen.add("refused")
        elif "damaged" in said.err:
            self._seen.add("noted")
        return said

    def came(self, check: Said) -> str:
        """Return how the damage was noticed; the check has to notice what anything else does."""
        if self._seen & {"refused", "noted"} and check.status == 0:
            self.wrong.append("the check calls it whole")
        known = ("refused", "noted", "no page")
        return next((one for one in known if one in self._seen), "no part")


class StoreRounds:
    """A warm store in a folder of its own, and what it says as long as it is whole."""

    def __init__(self, folder: Path) -> None:
        """Make the store by four runs of two studies."""
        self._warm, self._folder = folder / "warm", folder / "copy"
        self._outside = folder / "outside"
        self._outside.mkdir(parents=True)
        self._environment = {"HARDCOST_CACHE": str(folder / "cache")}
        self._studies = [folder / f"{name}.toml" for name in ("small", "large")]
        for study, calls in zip(self._studies, ("null", "open+read"), strict=True):
            study.write_text(of_rules(study.stem, calls, (0, 1, 2)))
        for more in ((), ("--fresh",)):
            for study in self._studies:
                self._asked("run", str(study), *_ON, *more, store=self._warm / "s")
        with closing(sqlite3.connect(self._warm / "s")) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")  # all is in the one file
        listed = json.loads(
            self._asked("list", "runs", "--format", "json", store=self._warm / "s").out
        )
        self._listed = [json.dumps(one) for one in listed]
        self._runs = [one["run"] for one in listed]
        self._reports = {
            run: self._asked("report", run, "--format", "json", store=self._warm / "s").cells()
            for run in self._runs
        }
        self._rows = set(self._exported(self._warm / "s").out.splitlines())
        self._measured = [
            self._asked("run", str(study), *_ON, store=self._copied()).cells()
            for study in self._studies
        ]

    def round(self, way: str, chance: random.Random) -> tuple[str, str]:
        """Damage a copy in one way; return the outcome, and what is wrong with it."""
        store = self._copied()
        shutil.rmtree(self._outside)
        self._outside.mkdir()
        (self._outside / "aim").write_text(PRECIOUS)
        WAYS[way](store, self._outside / "aim", chance)
        try:
            noticed, wrong = self._judged(store)
        except HangsError:
            return "WRONG", "it hangs"
        there = sorted(one.name for one in self._outside.iterdir())
        if there != ["aim"] or (self._outside / "aim").read_text() != PRECIOUS:
            wrong.append("something outside was changed")
        if wrong:
            return "WRONG", "; ".join(wrong)
        return noticed, ""

    def _judged(self, store: Path) -> tuple[str, list[str]]:
        """Ask for everything; return how the damage was noticed, and what is wrong."""
        judged = _Judged()
        asked = judged.heard
        check = self._asked("runs", "check", "--format", "json", store=store)
        asked("runs check", check, refusals=(_NO, _USAGE, _FAILED))
        for run in ("last", *self._runs):
            said = asked("report", self._asked("report", run, "--format", "json", store=store))
            if said.status == 0 and not self._is_genuine(run, said):
                judged.wrong.append(f"report {run} has other numbers")
        listed = asked("list", self._asked("list", "runs", "--format", "json", store=store))
        there = [json.dumps(one) for one in json.loads(listed.out or "[]")]
        if listed.status == 0 and there != self._listed and _LEFT_OUT not in listed.err:
            judged.wrong.append("the list differs without a word")
        exported = asked("export", self._exported(store))
        rows = set(exported.out.splitlines())
        if exported.status == 0 and rows - self._rows:
            judged.wrong.append("the export has other numbers")
        if exported.status == 0 and self._rows - rows and _LEFT_OUT not in exported.err:
            judged.wrong.append("the export lacks rows without a word")
        for study, cells in zip(self._studies, self._measured, strict=True):
            said = asked("run", self._asked("run", str(study), *_ON, store=store))
            if said.status == 0 and said.cells() != cells:
                judged.wrong.append(f"the study {study.stem} has other numbers")
        return judged.came(check), judged.wrong

    def _is_genuine(self, run: str, said: Said) -> bool:
        """Say whether a report has the numbers of its run; `last` may be another, with a note."""
        if run != "last":
            return said.cells() == self._reports[run]
        is_newest = said.cells() == self._reports[self._runs[0]]
        return is_newest or ("left out" in said.err and said.cells() in self._reports.values())

    def _exported(self, store: Path) -> Said:
        return self._asked("export", "runs", "-o", "-", store=store)

    def _asked(self, *words: str, store: Path) -> Said:
        """Carry out a verb in this process.

        Raises:
            HangsError: It takes too long.
        """
        environment = {**self._environment, "HARDCOST_STORE": str(store)}
        with _limited():
            ended = CliRunner().invoke(hardcost, words, env=environment)
        error = ended.exception
        if isinstance(error, HangsError):
            raise error
        if isinstance(error, HardcostError):
            hints = " ".join(str(one.hint) for one in error.problems)
            return Said(error.exit_status, ended.stdout, f"{ended.stderr} {error} {hints}")
        if error is not None and not isinstance(error, SystemExit | click.exceptions.Exit):
            return Said(70, ended.stdout, f"{ended.stderr} {error!r}")
        return Said(ended.exit_code, ended.stdout, ended.stderr)

    def _copied(self) -> Path:
        """Return a copy of the warm store, in a folder with nothing else."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        return Path(shutil.copy(self._warm / "s", self._folder / "s"))


@contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise HangsError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_LIMIT_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _sql(store: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as connection:
        connection.execute(statement, values)


def _bit(store: Path, _aim: Path, chance: random.Random) -> None:
    data = bytearray(store.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    store.write_bytes(data)


def _digit(store: Path, _aim: Path, chance: random.Random) -> None:
    """Change a digit to another, as one that could be believed."""
    data = bytearray(store.read_bytes())
    places = [at for at, one in enumerate(data) if chr(one).isdigit()]
    data[chance.choice(places)] = ord(chance.choice("0123456789"))
    store.write_bytes(data)


def _cut(store: Path, _aim: Path, chance: random.Random) -> None:
    os.truncate(store, chance.randrange(store.stat().st_size))


def _page(store: Path, _aim: Path, chance: random.Random) -> None:
    """Exchange two pages."""
    data = store.read_bytes()
    pages = [data[at : at + 4096] for at in range(0, len(data), 4096)]
    one, other = chance.randrange(len(pages)), chance.randrange(len(pages))
    pages[one], pages[other] = pages[other], pages[one]
    store.write_bytes(b"".join(pages))


def _value(store: Path, _aim: Path, chance: random.Random) -> None:
    """Change a value of a row, by SQL."""
    table, columns = chance.choice(
        [
            ("records", ("run", "identity", "body", "digest")),
            (
                "runs",
                ("name", "plan", "study", "fresh", "started", "finished", "finding", "digest"),
            ),
        ]
    )
    column = chance.choice(columns)
    old, new = chance.sample("0123456789abcdef", 2)
    _sql(
        store,
        f"UPDATE {table} SET {column} = replace({column}, ?, ?)"  # noqa: S608  (ours)
        f" WHERE rowid = (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET ?)",
        *(old, new, chance.randrange(4)),
    )


def _exchange(store: Path, _aim: Path, chance: random.Random) -> None:
    """Exchange a column of two rows."""
    table, column = chance.choice(
        [("records", "body"), ("records", "digest"), ("records", "identity"), ("runs", "finding")]
    )
    one, other = chance.sample(range(1, 5), 2)
    _sql(
        store,
        f"UPDATE {table} SET {column} = (SELECT {column} FROM {table} AS o"  # noqa: S608  (ours)
        f" WHERE o.rowid = ? - {table}.rowid) WHERE rowid IN (?, ?)",
        *(one + other, one, other),
    )


def _copy(store: Path, _aim: Path, chance: random.Random) -> None:
    """Make an older record the newest of another trial's."""
    _sql(
        store,
        "INSERT INTO records SELECT 99, run, (SELECT identity FROM records WHERE number = ?), body,"
        " digest FROM records WHERE number = ?",
        *chance.sample(range(1, 7), 2),
    )


def _name(store: Path, aim: Path, chance: random.Random) -> None:
    name = chance.choice(
        [str(aim.parent / "new"), "../../outside/new", "..", ".x", "a\nb", "\x1b["]
    )
    _sql(store, "UPDATE runs SET name = ? WHERE rowid = ?", name, chance.randrange(1, 5))


def _beside(store: Path, aim: Path, chance: random.Random) -> None:
    """Put a link, a pipe or a device beside the store or in its place."""
    suffix = chance.choice(["-owners", "-wal", "-shm", "-journal", ""])
    path = store.with_name(f"s{suffix}")
    path.unlink(missing_ok=True)
    _strange(path, aim if suffix else Path("/dev/zero"), chance)  # the user names the store itself


def _report(store: Path, aim: Path, chance: random.Random) -> None:
    """Put a link or pipe where a report goes."""
    folder = store.parent / "reports"
    if chance.random() < 1 / 3:
        folder.symlink_to(aim.parent)
        return
    folder.mkdir()
    with closing(sqlite3.connect(store)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM runs")]
    for name in names:
        _strange(folder / f"{name}.html", aim, chance)


def _strange(path: Path, aim: Path, chance: random.Random) -> None:
    kind = chance.choice(["link", "pipe", "device"])
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(aim if kind == "link" else "/dev/zero")


WAYS: dict[str, Callable[[Path, Path, random.Random], Any]] = {
    "bit flipped": _bit,
    "digit changed": _digit,
    "file cut": _cut,
    "pages exchanged": _page,
    "value changed": _value,
    "rows exchanged": _exchange,
    "row copied": _copy,
    "run renamed": _name,
    "link, pipe or device beside it": _beside,
    "link or pipe for a report": _report,
}
