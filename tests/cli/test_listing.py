"""`hardcost list`: what a pipe gets is whole, and runs can be distinguished."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hardcost.analysis.finding_text import finding_to_text
from hardcost.cli.command import hardcost
from hardcost.model.finding.bill import Bill, Item, Total
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.failure import Failure
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import role_of
from hardcost.model.workload import MetricId, Workload, metric_of, workload_of
from hardcost.profiles import catalogue
from hardcost.store.store import Store
from tests.store.test_store import record

COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")


def said(*words: str, **environment: str) -> str:
    """Return what a pipe gets; in this process, since starting one for each takes long."""
    ended = CliRunner().invoke(hardcost, words, env=environment, catch_exceptions=False)
    assert ended.exit_code == 0, ended.stderr
    return ended.stdout


def runs(store: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        said("list", "runs", "--format", "json", "--store", str(store))
    )
    return found


@pytest.mark.parametrize("kind", ["instruments", "studies", "machines"])
def test_a_pipe_gets_rows_without_boxes_and_whole(kind: str) -> None:
    rows = json.loads(said("list", kind, "--format", "json"))
    header, *lines = said("list", kind).splitlines()
    assert header.split() == list(rows[0])
    texts = "\n".join(lines)
    name, title = rows[0]
    for row in rows:
        (line,) = [one for one in lines if one.split()[:1] == [row[name]]]
        assert line.isascii() or not row[title].isascii()
        words = row[title].split()
        assert words[0] in line
        assert texts.index(words[-1], texts.index(line)) >= 0


KINDS = ("controls", "profiles", "workloads", "instruments", "studies", "machines")


@pytest.mark.parametrize("kind", KINDS)
def test_a_list_fits_100_columns_and_drops_nothing(kind: str, tmp_path: Path) -> None:
    own = {"HARDCOST_CACHE": str(tmp_path / "cache")}
    rows = json.loads(said("list", kind, "--format", "json", **own))
    lines = said("list", kind, **own).splitlines()
    assert max(map(len, lines)) <= 100
    found = set(" ".join(lines).replace(",", " ").split())
    dropped = {"parameters", "mechanism", "share"}  # in JSON alone, or shown in other words
    texts = [text for row in rows for key, text in row.items() if key not in dropped]
    assert {word for text in texts for word in text.replace(",", " ").split()} <= found


def test_runs_fit_100_columns_whatever_they_are_called(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with Store(path) as opened:
        for name in ("a" * 240, "[bold]x"):
            run = opened.start(name, "p", "mine", fresh=False)
            opened.finish(run, finding_to_text(bill_of(name, "profile " * 40, (), ())))
    text = said("list", "runs", "--store", str(path))
    assert max(map(len, text.splitlines())) <= 100
    assert "[bold]x" in text.splitlines()


@pytest.mark.parametrize(
    ("patterns", "wanted"),
    [
        (("INIT_ON_ALLOC",), "INIT_ON_ALLOC_DEFAULT_ON=y"),
        (("init_on_*_on=y", "kspp-self"), "INIT_ON_ALLOC_DEFAULT_ON=y"),
        (("kerneloption", "user_ns"), "USER_NS=n"),
    ],
)
def test_a_pattern_shows_what_contains_it(
    tmp_path: Path, patterns: tuple[str, ...], wanted: str
) -> None:
    own = {"HARDCOST_CACHE": str(tmp_path / "cache")}
    whole = json.loads(said("list", "controls", "--format", "json", **own))
    rows = json.loads(said("list", "controls", *patterns, "--format", "json", **own))
    assert 0 < len(rows) < len(whole) / 4
    assert all(row in whole for row in rows)
    assert any(wanted in row["control"] for row in rows)
    assert wanted in said("list", "controls", *patterns, **own)


def test_a_pattern_that_nothing_contains_says_so_and_has_status_1(tmp_path: Path) -> None:
    own = {"HARDCOST_CACHE": str(tmp_path / "cache")}
    for words in (("controls", "no such control"), ("studies", "nonesuch")):
        ended = CliRunner().invoke(hardcost, ["list", *words], env=own)
        assert ended.exit_code == 1
        assert ended.stdout == ""
        assert f"no {words[0]} match {words[1]!r}" in ended.stderr
        assert ("rhel9-stig" in ended.stderr) == (words[0] == "controls")


def cell(configuration: str, metric: str, ratio: float) -> Cell:
    value = 100 * ratio
    return Cell(
        configuration=role_of(configuration),
        workload=workload_of("syscalls calls=null"),
        metric=metric,
        unit="insn/op",
        value=value,
        low=value,
        high=value,
        trials=1,
        baseline=role_of("none"),
        ratio=ratio,
        ratio_low=ratio,
        ratio_high=ratio,
        minimum=value,
        difference=value - 100,
    )


def finding(run: str, **more: Any) -> StudyFinding:  # noqa: ANN401  (whatever a finding holds)
    return StudyFinding(
        run=run, study="mine", title="My study", instrument="insn", cells=(), **more
    )


def bill_of(run: str, profile: str, totals: tuple[Total, ...], items: tuple[Item, ...]) -> Bill:
    return Bill(
        run=run,
        study="mine",
        title="My study",
        instrument="insn",
        cells=(),
        profile=profile,
        totals=totals,
        items=items,
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with a bill, a study of which a trial failed, and a run that was ended."""
    path = tmp_path / "store.sqlite"
    items = tuple(
        Item(*(control, metric_of(metric), "insn/op", cost, cost, cost, 0.1, cost, 0))
        for control, metric, cost in [("dear", "fork", 900), ("dearer", "null", 300)]
    )
    totals = (
        Total(MetricId("fork"), "insn/op", 90_000, 90_900, 900),
        Total(MetricId("null"), "insn/op", 300, 600, 3),
    )
    with Store(path) as opened:
        bill = opened.start("bill-1", "p1", "bill-x", fresh=False)
        opened.save(bill, record("a"))
        opened.save(bill, record("b"))
        opened.finish(bill, finding_to_text(bill_of("bill-1", "/etc/audit/rules.d", totals, items)))
        study = opened.start("study-1", "p2", "mine", fresh=False)
        cells = (cell("none", "null", 1), cell("on", "null", 1.2), cell("off", "null", 0.5))
        lost = (Failure(role_of("on"), Workload("syscalls"), 0, 1, "it died"),)
        made = StudyFinding(
            run="study-1",
            study="mine",
            title="My study",
            instrument="insn",
            cells=cells,
            failures=lost,
        )
        opened.finish(study, finding_to_text(made))
        ended = opened.start("study-2", "p2", "mine", fresh=False)
        opened.save(ended, record("c"))
    return path


def test_runs_are_distinguished_newest_first(store: Path) -> None:
    ended, study, bill = runs(store)
    assert [ended["run"], study["run"], bill["run"]] == ["study-2", "study-1", "bill-1"]
    assert [one["state"] for one in (ended, study, bill)] == ["unfinished", *["finished"] * 2]
    assert [one["trials"] for one in (ended, study, bill)] == [1, 0, 2]
    assert [one["failed"] for one in (ended, study, bill)] == [0, 1, 0]
    assert (
        bill["headline"]
        == "/etc/audit/rules.d: most expensive: dear, +782.6 insn/op on the average system call"
    )
    assert study["headline"] == "My study: off x0.50 on null (syscalls calls=null)"
    assert "--resume" in ended["headline"]
    with Store(store) as opened:
        lone = opened.start("study-4", "p4", "mine", fresh=False)
        made = StudyFinding(
            run="study-4",
            study="mine",
            title="One",
            instrument="insn",
            cells=(cell("none", "null", 1),),
        )
        opened.finish(lone, finding_to_text(made))
    assert runs(store)[0]["headline"] == "One: null 100 insn/op"
    assert study["workloads"] == ["syscalls calls=null"]
    assert ended["workloads"] == [str(record("c").workload)]
    assert ended["instrument"] == "insn"
    text = said("list", "runs", "--store", str(store))
    assert [line for line in text.splitlines() if line[0] != " "] == [
        "study-4",
        "study-2",
        "study-1",
        "bill-1",
    ]
    assert "finished, 1 failed" in text
    assert study["started"][:19].replace("T", " ") in text


def test_a_finding_that_is_damaged_hides_no_run(store: Path) -> None:
    with Store(store) as opened:
        run = opened.start("study-3", "p3", "mine", fresh=False)
        opened.finish(run, "{")
    assert runs(store)[0]["run"] == "study-3"


@pytest.mark.parametrize(
    "words", [("list", "runs"), ("report", "study-1"), ("compare", "last", "study-1")]
)
def test_a_store_that_cant_be_written_can_be_read(store: Path, words: tuple[str, ...]) -> None:
    more = ["--report", str(store.parent.parent / f"{store.parent.name}.html")]
    argv = [*words, "--store", str(store), *(more if words[0] == "report" else [])]
    before = {path.name: path.read_bytes() for path in store.parent.iterdir()}
    # Root may write anywhere but to a file system that is mounted read-only.
    mounted = f'mount --bind -o ro {store.parent} {store.parent} && exec "$@"'
    ended = subprocess.run(
        ["unshare", "--mount", "--map-root-user", "sh", "-c", mounted, "sh", *COMMAND, *argv],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "study-1" in ended.stdout
    assert {path.name: path.read_bytes() for path in store.parent.iterdir()} == before


def test_looking_at_a_store_that_is_not_there_makes_none(tmp_path: Path) -> None:
    missing = tmp_path / "folder" / "store"
    assert runs(missing) == []
    ended = subprocess.run(
        [*COMMAND, "report", "last", "--store", str(missing)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "there is no store" in ended.stderr
    assert not missing.parent.exists()


def test_listing_controls_fetches_nothing_and_says_what_it_does_not_know(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    environment = {"HARDCOST_CACHE": str(cache), "PATH": "/nowhere"}
    rows = json.loads(said("list", "controls", "--format", "json", **environment))
    assert not cache.exists()
    assert {row["profile"] for row in rows} == set(catalogue.names())
    unknown = {row["profile"]: row["control"] for row in rows if row["mechanism"] == "unknown"}
    assert "rhel9-stig" in unknown
    assert "kspp" not in unknown
    assert "ssg-nondebian" in unknown["rhel9-stig"]


def test_controls_are_read_once_for_each_set_of_packages(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    first = said("list", "controls", HARDCOST_CACHE=str(tmp_path))
    (kept,) = (tmp_path / "listings").iterdir()
    changed = kept.stat().st_mtime_ns
    assert said("list", "controls", HARDCOST_CACHE=str(tmp_path)) == first
    assert [one.stat().st_mtime_ns for one in (tmp_path / "listings").iterdir()] == [changed]
    (packages / "another").mkdir()
    assert said("list", "controls", HARDCOST_CACHE=str(tmp_path)) == first
    assert len(list((tmp_path / "listings").iterdir())) == 2


def test_a_benchmark_s_number_that_no_profile_shows_names_what_takes_it() -> None:
    ended = CliRunner().invoke(hardcost, ["list", "controls", "RHEL-09-654010"])
    assert ended.exit_code == 1
    assert "`hardcost bill RHEL-09-654010` measures it" in ended.stderr
    assert (
        "running programs do not pay"
        in CliRunner().invoke(hardcost, ["list", "controls", "RHEL-09-411050"]).stderr
    )
