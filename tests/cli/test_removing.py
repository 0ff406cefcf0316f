"""Removals: what is chosen goes, with its report, and nothing that is in use or only named so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hardcost.analysis.finding_text import finding_to_text
from hardcost.cli.command import hardcost
from hardcost.store.location import report_of
from hardcost.store.store import Store
from hardcost.supply.cache.cache import Cache
from tests.cli.test_listing import finding
from tests.store.test_database import changed, made_older
from tests.store.test_store import record


def said(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(hardcost, words, env=environment)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with three runs, each with a report; the last is unfinished."""
    path = tmp_path / "s.sqlite"
    (tmp_path / "reports").mkdir()
    with Store(path) as opened:
        for name in ("one-1", "one-2", "two-1"):
            run = opened.start(name, f"plan {name}", "mine", fresh=False)
            opened.save(run, record(f"id {name}"))
            if name != "two-1":
                opened.finish(run, finding_to_text(finding(name)))
            (tmp_path / "reports" / f"{name}.html").write_text(name * 10_000)
    return path


def left(store: Path) -> tuple[set[str], set[str]]:
    """Return the runs and the reports that are still there."""
    rows = json.loads(said("list", "runs", "--store", str(store), "--format", "json").stdout)
    reports = {path.name for path in (store.parent / "reports").iterdir()}
    return {row["run"] for row in rows}, reports


def removing(store: Path, *words: str) -> Result:
    return said("runs", "remove", *words, "--store", str(store))


def aged(store: Path, days: int, name: str) -> None:
    """Make a run older, as one of an older hardcost whose rows have no digest."""
    made_older(store)
    then = (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="seconds")
    changed(store, "UPDATE runs SET started = ? WHERE name = ?", then, name)


def test_a_run_is_removed_with_its_trials_and_report(store: Path) -> None:
    with Store(store) as opened:
        run = opened.start("large", "p", "mine", fresh=False)
        opened.save(run, record("large").model_copy(update={"environment": {"x": "y" * 4_000_000}}))
    before = store.stat().st_size
    assert left(store)[0] == {"one-1", "one-2", "two-1", "large"}
    ended = removing(store, "one-1", "two", "large")
    assert ended.exit_code == 0, ended.stderr
    assert "removed one-1 (finished, 1 trial)" in ended.stdout
    assert "removed two-1 (unfinished, 1 trial)" in ended.stdout
    assert "(3 runs, 2 reports)" in ended.stdout
    assert left(store) == ({"one-2"}, {"one-2.html"})
    assert before - store.stat().st_size > 3_900_000
    freed = float(ended.stdout.partition("freed ")[2].split()[0])
    assert 3.7 < freed < 4.3
    with Store(store) as opened:
        assert [run for run, _ in opened.records()] == ["one-2"]
    assert said("runs", "check", "--store", str(store)).exit_code == 0


def test_a_plan_removes_nothing(store: Path) -> None:
    before = left(store)
    ended = removing(store, "one-1", "--dry-run")
    assert "would remove one-1 (finished, 1 trial)" in ended.stdout
    assert left(store) == before
    assert removing(store, "--older-than", "30d", "--dry-run").stdout == "nothing to remove\n"


def test_old_runs_are_removed_by_their_start(store: Path) -> None:
    aged(store, 40, "one-1")
    aged(store, 20, "one-2")
    assert removing(store, "--older-than", "30d").exit_code == 0
    assert left(store)[0] == {"one-2", "two-1"}
    assert removing(store, "--older-than", "2w").exit_code == 0
    assert left(store)[0] == {"two-1"}


def test_a_damaged_run_is_not_called_old_but_may_be_named(store: Path) -> None:
    changed(store, "UPDATE runs SET started = '1999-01-01T00:00:00+00:00' WHERE name = 'one-1'")
    ended = removing(store, "--older-than", "30d")
    assert ended.stdout == "nothing removed\n"
    assert "one-1 stays: it is damaged" in ended.stderr
    assert "removed one-1" in removing(store, "one-1").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("one",),
        ("nothing",),
        ("",),
        ("../one-1",),
        ("one-2", "nothing"),
        (),
        ("one-1", "--older-than", "30d"),
        ("--older-than", "30"),
        ("--older-than", "-1d"),
        ("--older-than", "٣d"),
    ],
)
def test_an_unclear_wish_removes_nothing(store: Path, words: tuple[str, ...]) -> None:
    before = left(store)
    ended = removing(store, *words)
    assert getattr(ended.exception, "exit_status", ended.exit_code) == 2
    assert left(store) == before


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    missing = tmp_path / "folder" / "s"
    assert "there is no store" in str(removing(missing, "--older-than", "1d").exception)
    assert not missing.parent.exists()


USE = """
import sys; from pathlib import Path; from hardcost.store.store import Store
from tests.store.test_store import record
with Store(Path(sys.argv[1])) as store:
    run = store.start("two-2", "plan", "mine", fresh=False)
    print("started", flush=True)
    sys.stdin.read()
    store.save(run, record("late"))
    store.finish(run, "{}")
"""


def test_a_run_that_another_process_measures_stays_and_can_end(store: Path) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", USE, store], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"started\n"
        report = report_of(store, "two-2")
        report.parent.mkdir(exist_ok=True)
        report.write_text("a page")
        ended = removing(store, "two-2", "one-1")
        assert report.read_text() == "a page"
        assert "two-2: another process is measuring it" in str(ended.exception)
        assert "removed one-1" in ended.stdout
        assert "the store's file keeps its size" in ended.stderr
        aged_out = removing(store, "--older-than", "0h")
        assert aged_out.exit_code == 0
        assert run.stdin is not None
        run.stdin.close()
        assert run.wait() == 0
    assert "two-2" in left(store)[0]
    assert removing(store, "two-2").exit_code == 0
    assert "two-2" not in left(store)[0]


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", ".hidden", ""])
def test_a_name_that_is_a_path_removes_no_file(tmp_path: Path, store: Path, name: str) -> None:
    outside = tmp_path / "outside.html"
    outside.write_text("precious")
    made_older(store)
    changed(store, "UPDATE runs SET name = ? WHERE name = 'one-1'", name)
    ended = removing(store, name)
    assert getattr(ended.exception, "exit_status", ended.exit_code) == 2
    removing(store, "--older-than", "0h")
    assert outside.read_text() == "precious"
    assert "one-1.html" in left(store)[1]


def test_no_link_is_followed(tmp_path: Path, store: Path) -> None:
    aim = tmp_path / "aim"
    aim.mkdir()
    (aim / "one-1.html").write_text("precious")
    page = tmp_path / "reports" / "one-2.html"
    page.unlink()
    page.symlink_to(aim / "one-1.html")
    assert removing(store, "one-2").exit_code == 0
    assert not page.is_symlink()
    (tmp_path / "reports").rename(tmp_path / "moved")
    (tmp_path / "reports").symlink_to(aim)
    ended = removing(store, "one-1")
    assert ended.exit_code == 0
    assert "its folder is a link" in ended.stderr
    assert (aim / "one-1.html").read_text() == "precious"
    assert left(store)[0] == {"two-1"}


def fill(folder: Path) -> None:
    (folder / "content").write_text("x" * 100_000)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Return a cache with a kernel and two snapshots, of which one was not used for 40 days."""
    root = tmp_path / "cache"
    kept = Cache(root)
    then = time.time() - 40 * 86400
    for kind, name in (("kernels", "aa" * 8), ("snapshots", "bb" * 8), ("snapshots", "cc" * 8)):
        place = kept.make(kind, name, f"a {kind[:-1]}", fill)
        if name[0] != "b":
            os.utime(place, (then, then))
    return root


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        (("--snapshots",), {"bb", "cc"}),
        (("--older-than", "30d"), {"aa", "cc"}),
        (("--snapshots", "--older-than", "30d"), {"cc"}),
        (("--older-than", "10w"), set()),
        (("--all",), {"aa", "bb", "cc"}),
        (("--all", "--dry-run"), set()),
    ],
)
def test_what_options_choose_of_the_cache_is_removed(
    cache: Path, words: tuple[str, ...], gone: set[str]
) -> None:
    ended = said("image", "remove", *words, HARDCOST_CACHE=str(cache))
    assert ended.exit_code == 0, ended.stderr
    there = {path.name[:2] for path in cache.glob("*/*/") if path.parent.name != "locks"}
    assert there == {"aa", "bb", "cc"} - gone
    if gone:
        assert ended.stdout.count("removed ") == len(gone)
        assert f"freed {len(gone) * 108}" in ended.stdout.replace(",", "")
    if "--dry-run" in words:
        assert "would free 324 KiB (3 entries)" in ended.stdout


def test_what_is_in_use_of_the_cache_stays_and_that_is_said(cache: Path) -> None:
    holder = Cache(cache)
    assert holder.find("snapshots", "bb" * 8) is not None
    chosen = said("image", "remove", "--snapshots", HARDCOST_CACHE=str(cache))
    assert chosen.exit_code == 0
    assert "snapshots bbbbbbbbbbbbbbbb (a snapshot) is in use and stays" in chosen.stderr
    named = said("image", "remove", "aa", "bb", HARDCOST_CACHE=str(cache))
    assert "removed kernels aaaaaaaaaaaaaaaa" in named.stdout
    assert "1 entry in use" in str(named.exception)
    assert holder.is_there("snapshots", "bb" * 8)


def test_the_cache_is_listed_within_100_columns(cache: Path) -> None:
    Cache(cache).make("guests", "dd" * 8, "a title " * 60, fill)
    lines = said("image", "list", HARDCOST_CACHE=str(cache)).stdout.splitlines()
    assert max(map(len, lines)) <= 100
    (line,) = [one for one in lines if one.startswith("snapshots  cc")]
    assert str((datetime.now(UTC) - timedelta(days=40)).date()) in line
