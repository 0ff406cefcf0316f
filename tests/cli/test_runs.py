"""A store of others, or a damaged one: no number without a word, and nothing written elsewhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hardcost.analysis.finding_text import finding_to_text
from hardcost.cli.command import hardcost
from hardcost.store.store import Store
from tests.cli.test_listing import finding
from tests.store.test_database import changed, made_older
from tests.store.test_store import record
from tests.studies import of_rules

PRECIOUS = "precious"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return a store with one finished run, in a folder of its own."""
    path = tmp_path / "folder" / "s.sqlite"
    with Store(path) as opened:
        run = opened.start("mine-1", "plan", "mine", fresh=False)
        opened.save(run, record())
        opened.finish(run, finding_to_text(finding("mine-1")))
    return path


@pytest.fixture
def aim(tmp_path: Path) -> Path:
    """Return a folder with a file that nothing may be written to."""
    (tmp_path / "aim").mkdir()
    (tmp_path / "aim" / "mine-1.html").write_text(PRECIOUS)
    return tmp_path / "aim"


def said(*words: str, **environment: str) -> Result:
    return CliRunner().invoke(hardcost, words, env=environment)


def told(result: Result) -> str:
    """Return the error that a verb ended with, in words."""
    return f"{result.exception} {result.stderr}"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("where", ["name", "finding"])
def test_a_report_is_not_written_where_a_store_says(
    tmp_path: Path, store: Path, where: str
) -> None:
    made_older(store)
    outside = f"{tmp_path}/outside"
    if where == "name":
        changed(store, "UPDATE runs SET name = ?", outside)
    else:
        changed(store, "UPDATE runs SET finding = ?", finding_to_text(finding(outside)))
    for name in ("last", outside, "mine-1"):
        ended = said("report", name, "--store", str(store))
        assert ended.exit_code != 0
        assert ended.stdout == ""
    assert not any("html" in name for name in files(tmp_path))


def test_a_report_replaces_a_link_and_a_pipe_in_its_place(store: Path, aim: Path) -> None:
    page = store.parent / "reports" / "mine-1.html"
    page.parent.mkdir()
    for is_pipe in (False, True):
        page.unlink(missing_ok=True)
        if is_pipe:
            os.mkfifo(page)
        else:
            page.symlink_to(aim / "mine-1.html")
        assert said("report", "last", "--store", str(store)).exit_code == 0
        assert not page.is_symlink()
        assert "</html>" in page.read_text()
    assert (aim / "mine-1.html").read_text() == PRECIOUS
    assert files(page.parent) == {"mine-1.html"}


def test_a_report_is_not_written_into_a_folder_that_is_a_link(store: Path, aim: Path) -> None:
    (store.parent / "reports").symlink_to(aim)
    ended = said("report", "last", "--store", str(store))
    assert "its folder is a link" in told(ended)
    assert (aim / "mine-1.html").read_text() == PRECIOUS
    assert files(aim) == {"mine-1.html"}


def test_a_link_that_the_user_names_is_followed(store: Path, aim: Path) -> None:
    (aim.parent / "mine").symlink_to(aim)
    named = str(aim.parent / "mine" / "mine-1.html")
    assert said("report", "last", "--store", str(store), "--report", named).exit_code == 0
    assert "</html>" in (aim / "mine-1.html").read_text()


def test_what_is_damaged_is_listed_with_its_remedy_and_has_status_1(store: Path) -> None:
    assert said("runs", "check", "--store", str(store)).exit_code == 0
    changed(store, "UPDATE records SET body = replace(body, '1.0', '7.0')")
    ended = said("runs", "check", "last", "--store", str(store))
    assert ended.exit_code == 1
    assert "the record 1 of" in ended.stdout
    assert "its trial is measured again" in ended.stdout
    changed(store, "UPDATE runs SET finding = '{}'")
    found = json.loads(said("runs", "check", "--store", str(store), "--format", "json").stdout)
    assert found["runs"] == [
        {"name": "mine-1", "state": "damaged", "trials": 1, "unchecked": 0, "damaged": 1}
    ]
    assert "run its study again" in found["damaged"][0]["remedy"]
    ended = said("report", "mine-1", "--store", str(store))
    assert "is damaged: it is not as it was written" in told(ended)
    listed = said("list", "runs", "--store", str(store), "--format", "json")
    assert json.loads(listed.stdout) == []
    assert "left out: the run 'mine-1'" in listed.stderr
    assert "left out: the record 1" in listed.stderr


def test_the_remedy_removes_what_is_damaged(store: Path) -> None:
    changed(store, "UPDATE records SET body = '{}'")
    found = json.loads(said("runs", "check", "--store", str(store), "--format", "json").stdout)
    statement = found["damaged"][0]["remedy"].split("'")[1]
    changed(store, statement)
    assert said("runs", "check", "--store", str(store)).exit_code == 0


def test_what_an_older_hardcost_wrote_is_called_unchecked(store: Path) -> None:
    made_older(store)
    ended = said("runs", "check", "--store", str(store))
    assert ended.exit_code == 0
    assert "unchecked" in ended.stdout
    report = json.loads(said("report", "last", "--store", str(store), "--format", "json").stdout)
    assert any("can't be checked for damage" in note for note in report["notes"])
    (row,) = json.loads(said("list", "runs", "--store", str(store), "--format", "json").stdout)
    assert row["checked"] is False
    assert "finished, unchecked" in said("list", "runs", "--store", str(store)).stdout
    exported = said("export", "runs", "-o", "-", "--store", str(store))
    assert "1 run with rows of an older hardcost" in exported.stderr


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401  (a function)
    """Return what runs a study on the machine for tests, with a cache and store of its own."""
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "s"))
    (tmp_path / "study.toml").write_text(of_rules("small", "null", (0, 1)))

    def run(*words: str) -> tuple[dict[str, Any], str]:
        argv = ("run", str(tmp_path / "study.toml"), "--machine", "fake", "--format", "json")
        ended = said(*argv, *words)
        assert ended.exit_code == 0, told(ended)
        return json.loads(ended.stdout), ended.stderr

    return run


def test_a_damaged_record_is_measured_again_and_that_is_said(tmp_path: Path, measured: Any) -> None:  # noqa: ANN401
    whole, _ = measured()
    changed(tmp_path / "s", "UPDATE records SET body = replace(body, '[', '[9') WHERE number = 1")
    again, err = measured()
    assert again["cells"] == whole["cells"]
    assert "the record 1 of" in err
    assert "it is measured again" in err


def test_a_result_says_which_trials_it_took_unchecked(tmp_path: Path, measured: Any) -> None:  # noqa: ANN401
    whole, _ = measured()
    made_older(tmp_path / "s")
    again, _ = measured()
    assert again["cells"] == whole["cells"]
    (note,) = [one for one in again["notes"] if "without a digest" in one]
    assert note.startswith("10 trials were saved by an older hardcost")
    fresh, _ = measured("--fresh")
    assert not [one for one in fresh["notes"] if "without a digest" in one]
    ended = said("runs", "check", "--format", "json")
    assert [one["state"] for one in json.loads(ended.stdout)["runs"]] == [
        "unchecked",
        "as written",
        "as written",
    ]
