"""The pages' figures: each block of output says what produces it, and that can be run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import click
import pytest

from bench.documents import figures
from hardcost.cli.command import hardcost

PAGES = [figures.ROOT / page for page in figures.PAGES]
OUTPUT = """\
Bill for x: 3 controls
metric  without    with  ratio
------------------------------
null        502   1,548  x3.08
open      5,598   8,963  x1.60
 1    297     +19
     -a always,exit -S unlink [x.rules:3]
 2      5     +20
     -a always,exit -S chmod [x.rules:4]
The end.
""".splitlines()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_of_output_says_what_produces_it(page: Path) -> None:
    lines = page.read_text().split("\n")
    assert figures.unmarked(page.name, lines) == []
    assert list(figures.blocks(page.name, lines))


def parsed(words: Sequence[str]) -> None:
    """Parse a command as the command line does, without running it."""
    command: click.Command = hardcost
    context = click.Context(hardcost)
    rest = list(words)
    while isinstance(command, click.Group):
        found = command.get_command(context, rest.pop(0))
        assert found is not None, words
        command = found
    command.make_context("hardcost", rest).close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_marked_command_can_be_parsed(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(figures.ROOT)
    lines = page.read_text().split("\n")
    made = {"docs/examples/stig.rules", "docs/examples/never-first.rules"}
    names = set()
    for block in figures.blocks(page.name, lines):
        mark = block.mark
        names.add(mark.options.get("name"))
        assert set(mark.options) <= {"name", "rows", "metrics", "show", "slow", "first"}, mark.where
        words = ["README.md" if "{" in one or one in made else one for one in mark.words]
        if words[0] == "python":
            is_module = words[1] == "-m"
            path = Path(words[2].replace(".", "/") + ".py") if is_module else Path(words[1])
            assert path.is_file(), mark.where
        elif words[0] == "cell":
            assert words[-1] in names, mark.where
        elif words[0] not in {"file", "sh"}:
            parsed(words)
    for inline in re.finditer(r"<!--= (\S+) ", page.read_text()):
        assert inline[1] in names, inline[0]


def test_the_readme_shows_eight_tasks_each_with_its_command_and_a_line_of_output() -> None:
    lines = (figures.ROOT / "README.md").read_text().split("\n")
    found = [(block.mark, block.lines(lines)) for block in figures.blocks("README.md", lines)]
    tasks = [(mark, block) for mark, block in found if block[0].startswith("$ ")]
    assert len(tasks) == 8
    for mark, (command, *output) in tasks:
        assert tuple(shlex.split(command)) == ("$", "hardcost", *mark.words), mark.where
        assert 1 <= len(output) <= 2, mark.where  # a long line of output is wrapped


@pytest.mark.parametrize(
    ("old", "first", "second"),
    [
        # The interval of the row above is the one that the row had.
        (" 1  +55.0 +/-6.1", " 1  +54.8 +/-6.1", " 2  +57.0 +/-6.0"),
        # The row above is what the row was.
        (" 1  +104", " 1  +104", " 2  +104"),
    ],
)
def test_a_row_stays_above_its_rule_where_rows_trade_places(
    old: str, first: str, second: str
) -> None:
    output = [first, "     -S chmod", second, "     -S unlink"]
    new, missing = figures.merged([old, "     -S unlink"], output)
    assert (new, missing) == (output[2:], [])


def test_a_block_takes_its_figures_from_the_output_and_keeps_its_gaps() -> None:
    old = [
        "metric  without    with  ratio",
        "-----------------------------",
        "open      5,000   8,000  x1.50",
        "…",
        " 9     11     +21",
        "     -a always,exit -S chmod [x.rules:4]",
        "",
        "The end.",
    ]
    new, missing = figures.merged(old, OUTPUT)
    assert missing == []
    assert new == [OUTPUT[1], OUTPUT[2], OUTPUT[4], "…", *OUTPUT[7:9], "", OUTPUT[9]]
    assert figures.merged(new, OUTPUT) == (new, [])


def test_the_first_lines_of_an_output_are_taken_as_they_are(tmp_path: Path) -> None:
    mark = "<!-- figures: python -c 'print(1, 2, 3, sep=chr(10))'; first: 2 -->"
    page = [mark, "```", "old", "```"]
    (block,) = figures.blocks("p.md", page)
    producer = figures.Producer(tmp_path)
    assert producer.produced(block.mark, block.lines(page)) == (["1", "2"], [])


def test_a_line_that_nothing_produces_is_reported() -> None:
    new, missing = figures.merged(["null  1  2  x3", "what was never printed"], OUTPUT)
    assert missing == ["what was never printed"]
    assert new == [OUTPUT[3], "what was never printed"]


def test_a_block_without_a_mark_is_found() -> None:
    page = [
        "```",
        "hardcost bill x",
        "```",
        "",
        "```",
        "null  12",
        "```",
        "```toml",
        "a = 1",
        "```",
    ]
    assert figures.unmarked("p.md", page) == ["p.md:5"]
    marked = [*page[:4], "<!-- figures: bill x; name: x; slow -->", *page[4:]]
    assert figures.unmarked("p.md", marked) == []
    (block,) = figures.blocks("p.md", marked)
    assert (block.mark.words, block.mark.slow) == (("bill", "x"), True)
    assert block.lines(marked) == ["null  12"]


def test_a_figure_of_a_sentence_is_taken_out_of_the_json() -> None:
    rows = [("a", 104.0), ("b", 19.0), ("c", 19.0), ("d", 0.0)]
    data = {
        "totals": [{"metric": "null", "baseline": 502.0, "with_profile": 1548.0, "cost": 1046.0}],
        "items": [{"metric": "null", "control": name, "cost": cost} for name, cost in rows],
        "fixed": [{"metric": "null", "cost": 904.0}],
        "interaction": [{"metric": "null", "cost": 0.0}],
    }
    kinds = ("times", "without", "fixed", "most", "usual")
    found = [figures.figure(data, f"null {kind}") for kind in kinds]
    assert found == ["3.1", "502", "904", "104", "19"]


def test_rows_that_changed_places_come_in_the_order_of_the_output() -> None:
    old = [*OUTPUT[7:9], *OUTPUT[5:7], "The end."]
    assert figures.merged(old, OUTPUT) == (OUTPUT[5:], [])
