"""The library as docs/library.md shows it: called from a notebook, nothing printed, same JSON."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import hardcost
from tests.cli.verbs.conversation import said
from tests.cli.verbs.conversations import STUDY

PAGE = Path(__file__).parent.parent / "docs" / "library.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
RULES = "-a always,exit -F arch=b64 -S open -k a\n-a always,exit -F arch=b64 -S chmod -k b\n"
OF_A_RUN = {"run", "command", "folder"}
"""Keys of JSON that differ from run to run."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "x.sqlite"))
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    (tmp_path / "my.rules").write_text(RULES)
    (tmp_path / "study.toml").write_text(STUDY)
    more = (f"-a always,exit -F arch=b64 -S open -k more{one}\n" for one in range(20))
    (tmp_path / "new.rules").write_text(RULES + "".join(more))


def on_fake(block: str) -> str:
    """Return a block of the page on the machine that computes its answers."""
    block = block.replace('machine="vm"', 'machine="fake"')
    return block.replace('("my.rules"))', '("my.rules", how=hardcost.Measuring(machine="fake")))')


def executed() -> dict[str, Any]:
    """Return what the page's blocks leave, one after another, as cells of a notebook are run."""
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(compile(on_fake(block), str(PAGE), "exec"), names)  # noqa: S102  (the page's own)
    return names


def comparable(text: str) -> dict[str, Any]:
    """Return a finding's JSON without what differs from run to run."""
    found = {key: value for key, value in json.loads(text).items() if key not in OF_A_RUN}
    return json.loads(re.sub(r"-\d{8}-\d{6}-[0-9a-f]{4}", "", json.dumps(found)))  # type: ignore[no-any-return]


def printed(words: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the JSON that a command prints."""
    return (
        said(words, capsys)
        .partition("--- stdout\n")[2]
        .partition("--- std")[0]
        .partition("--- status")[0]
    )


def test_the_page_runs_and_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    names = executed()
    assert capfd.readouterr() == ("", "")
    assert {"bill", "item", "total"} & {
        asdict(one)["kind"] for one in hardcost.rows(names["found"])
    }
    assert set(names["table"]["kind"]) >= {"cell", "item", "total"}
    assert names["dearest"].startswith("-")
    assert names["is_too_much"] is True
    assert names["given_up"]
    assert [name for name, _ in names["by_line"]] == ["open"]
    assert names["dearest_functions"]
    assert names["notes"].texts


def test_results_are_those_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    names = SimpleNamespace(**executed())
    names.compared = hardcost.compare(hardcost.CompareRequest(names.billed.run, names.found.run))
    fake = hardcost.Measuring(machine="fake")
    names.traced = hardcost.trace(hardcost.TraceRequest("my.rules", call="open", how=fake))
    names.ran = hardcost.run(hardcost.RunRequest("study.toml", how=fake))
    on = "--machine fake --workload 'syscalls calls=open+chmod' --format json"
    for found, words in (
        (names.billed, f"bill my.rules {on}"),
        (names.advised, f"advise my.rules --budget 'open<=5%' {on}"),
        (names.watched, f"profile my.rules --metric open {on}"),
        (names.gate, f"gate my.rules new.rules --max 'open<=5%' --max 'any<=50%' {on}"),
        (names.traced, "trace my.rules --call open --machine fake --format json"),
        (names.ran, "run study.toml --machine fake --format json"),
        (names.compared, f"compare {names.billed.run} {names.found.run} --format json"),
    ):
        assert comparable(hardcost.to_json(found)) == comparable(printed(words, capsys)), words


def test_in_a_loop_that_runs_a_call_runs_in_a_thread() -> None:
    async def cell() -> hardcost.Bill | hardcost.Bills:
        how = hardcost.Measuring(machine="fake")
        return hardcost.bill(hardcost.BillRequest("my.rules", how=how))

    assert isinstance(asyncio.run(cell()), hardcost.Bill)


def test_importing_the_library_imports_nothing_of_it() -> None:
    code = "import hardcost, sys; print([m for m in sys.modules if m.startswith('hardcost.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("name", hardcost.__all__)
def test_all_that_is_exported_is_there(name: str) -> None:
    assert getattr(hardcost, name).__name__ == name
    assert name in dir(hardcost)


def test_what_is_not_there_is_no_attribute() -> None:
    assert not hasattr(hardcost, "nothing")
