from __future__ import annotations

import json
from typing import NamedTuple

from hypothesis import given

from hardcost.show.exports.annotations import github, gitlab
from hardcost.units import visible
from tests.show.exports.gates import ANY_TEXT, HOSTILE, NAMED, gate


class Command(NamedTuple):
    name: str
    properties: dict[str, str]
    message: str


def command(line: str) -> Command:
    """Read a line as GitHub's runner does (ActionCommand.TryParseV2)."""
    line = line.lstrip()
    assert line.startswith("::")
    end = line.index("::", 2)
    name, _, said = line[2:end].partition(" ")
    pairs = [one.split("=", 1) for one in said.strip().split(",") if one]
    return Command(
        name, {key: restored(value, ":,") for key, value in pairs}, restored(line[end + 2 :])
    )


def restored(text: str, also: str = "") -> str:
    for char in f"\r\n{also}%":
        text = text.replace(f"%{ord(char):02X}", char)
    return text


def test_the_line_that_is_to_blame_is_an_error_at_its_place() -> None:
    first, whole = map(command, github(gate()).splitlines())
    assert first.name == "error"
    assert (first.properties["file"], first.properties["line"]) == ("rules.d/x.rules", "7")
    assert "predicted: this line adds +10 insn/op to open" in first.message
    assert whole.name == "error"
    assert "over its limit of 5.0%" in whole.message


def test_within_the_limits_nothing_is_an_error() -> None:
    names = {command(line).name for line in github(gate(limit=None)).splitlines()}
    assert names == {"notice"}
    assert [one["severity"] for one in json.loads(gitlab(gate(limit=None)))] == ["info"]


@ANY_TEXT
@given(control=HOSTILE, file=NAMED, name=HOSTILE)
def test_any_text_comes_out_of_a_workflow_command_as_data(
    control: str, file: str, name: str
) -> None:
    lines = github(gate(control, file, name=name)).split("\n")
    first, whole = map(command, lines)
    assert first.name == whole.name == "error"
    assert first.properties == {"file": visible(file), "line": "7", "title": "hardcost gate"}
    assert first.message.endswith(f"The line: {visible(control)}")
    assert whole.message.startswith(f"before: {visible(name)}; after: HEAD")


@ANY_TEXT
@given(control=HOSTILE, file=NAMED)
def test_any_text_comes_out_of_gitlabs_report_as_data(control: str, file: str) -> None:
    (issue,) = json.loads(gitlab(gate(control, file)))
    assert issue["location"] == {"path": visible(file), "lines": {"begin": 7}}
    assert issue["description"].endswith(f"The line: {visible(control)}")
    assert issue["severity"] == "major"


def test_a_fingerprint_stays_when_lines_move() -> None:
    (a,), (b,) = (json.loads(gitlab(gate(grows=grows))) for grows in (10.0, 20.0))
    assert a["fingerprint"] == b["fingerprint"]
    assert len(a["fingerprint"]) == 32
