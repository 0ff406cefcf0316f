from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.verbs.conversation import said

Say = Callable[[str], str]

RULES = """\
-w /etc/passwd -p wa -k identity
-a always,exit -F arch=b64 -S chmod,fchmod -F auid>=1000 -k modes
"""
ON = "--machine fake --jobs 1 --progress none --workload 'syscalls calls=null+open'"


@pytest.fixture
def say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Say:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "x.sqlite"))
    (tmp_path / "my.rules").write_text(RULES)

    class Text:
        """What was captured, as text."""

        def readouterr(self) -> tuple[str, str]:
            out, err = capsysbinary.readouterr()
            return out.decode(), err.decode()

    return lambda words: said(words, Text())  # type: ignore[arg-type]  # all that it asks of it


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def stdout(text: str) -> str:
    return text.partition("--- stdout\n")[2].partition("--- s")[0]


def test_everything_in_the_store_is_one_table(say: Say, tmp_path: Path) -> None:
    say(f"bill my.rules {ON}")
    assert say("export runs -o runs.csv").endswith("--- status 0\n")
    found = table((tmp_path / "runs.csv").read_text())
    kinds = {row["kind"] for row in found}
    assert kinds == {"cell", "total", "item", "fixed", "rest", "interaction", "trial"}
    trials = [row for row in found if row["kind"] == "trial"]
    cells = {
        (row["configuration"], row["metric"]): row["value"]
        for row in found
        if row["kind"] == "cell"
    }
    own = {(row["configuration"], row["metric"]): row["value"] for row in trials}
    assert all(own[key] == value for key, value in cells.items())
    assert all(row["started"] for row in found if row["kind"] == "cell")
    assert all(float(row["host_seconds"]) >= 0 for row in trials)


def test_a_damaged_record_is_left_out_and_noted(say: Say, tmp_path: Path) -> None:
    say(f"bill my.rules {ON}")
    with sqlite3.connect(tmp_path / "x.sqlite") as connection:
        connection.execute("UPDATE records SET body = '{' WHERE number = 1")
    connection.close()
    text = say("export runs -o runs.csv")
    assert text.endswith("--- status 0\n")
    assert "left out: the record 1" in text


def test_a_run_is_printed_as_the_table_that_the_store_has(say: Say) -> None:
    bill = say(f"bill my.rules {ON} --format csv")
    again = say("report last --format csv")
    assert table(stdout(bill)) == table(stdout(again))
    assert {row["kind"] for row in table(stdout(bill))} >= {"cell", "total", "item"}
    assert "| kind |" in say("report last --format markdown")


def test_no_text_in_csv_acts_in_a_spreadsheet_unless_it_is_raw(say: Say, tmp_path: Path) -> None:
    say(f"bill my.rules {ON}")
    say("export runs -o runs.csv")
    say("export runs -o raw.csv --raw")
    marked, raw = ((tmp_path / name).read_text() for name in ("runs.csv", "raw.csv"))
    for shown, own in (
        (marked, raw),
        *((stdout(say(f"report last --format csv{one}")) for one in ("", " --raw")),),
    ):
        controls = {row["control"] for row in table(own)} - {""}
        assert controls == set(RULES.splitlines())
        assert {row["control"] for row in table(shown)} - {""} == {f"'{one}" for one in controls}
        assert [row["value"] for row in table(shown)] == [row["value"] for row in table(own)]


def test_raw_is_refused_where_there_is_no_csv(say: Say) -> None:
    for words in ("report last --raw", f"bill my.rules {ON} --raw --format json"):
        text = say(words)
        assert "error: --raw is for CSV alone" in text
        assert text.endswith("--- status 2\n")


def test_two_runs_are_one_table(say: Say) -> None:
    say(f"bill my.rules {ON}")
    say(f"bill my.rules {ON} --fresh")
    rows = table(stdout(say("compare bill last --format csv")) or "kind\n")
    assert rows == []  # both runs' names begin so: that is an error, and no table
    names = [run["run"] for run in json.loads(stdout(say("list runs --format json")))]
    rows = table(stdout(say(f"compare {names[1]} {names[0]} --format csv")))
    assert {row["kind"] for row in rows} == {"changed"}
    assert {row["baseline"] for row in rows} == {names[1]}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("export runs -o runs.xyz", "does not say which format"),
        ("export runs -o runs.csv", "there is no store"),
    ],
)
def test_a_wrong_name_or_store_is_refused(say: Say, words: str, what: str) -> None:
    text = say(words)
    assert text.endswith("--- status 2\n")
    assert what in text
