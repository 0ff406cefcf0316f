"""The pages that people read: their links lead somewhere, and the commands that they show exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from hardcost.cli.verbs import hardcost

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "kernel" / "README.md"],
    key=str,
)
_LINK = re.compile(r"\]\((?!https?:)(?P<file>[^)#\s]*)(?:#(?P<heading>[^)]*))?\)")
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`(hardcost [^`\n]+)`")
_LINE = re.compile(r"^(?:\$ |\.venv/bin/)?(hardcost .+)$", re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return what links to a page's headings may say, as forges make it of their text."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


def commands(text: str) -> list[str]:
    """Return the commands that a page shows, in its sentences and in its blocks."""
    blocks = "\n".join(_FENCE.findall(text)).replace("\\\n", " ")
    shown = [*_INLINE.findall(_FENCE.sub("", text)), *_LINE.findall(blocks)]
    return [re.split(r"\s#|[|;]", one)[0] for one in shown]


def unknown(words: list[str]) -> list[str]:
    """Return the words of a command that no verb or option of the command line goes by."""
    command: click.Command = hardcost
    context = click.Context(hardcost)
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(context, rest[0])
        if found is None:
            return rest[:1]
        command = found
        rest.pop(0)
    known = {"--help", *(name for one in command.params for name in one.opts)}
    options = [one.partition("=")[0] for one in rest if one.startswith("--")]
    return [one for one in options if one not in known]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    for found in _LINK.finditer(_FENCE.sub("", page.read_text())):
        to = page.parent / found["file"] if found["file"] else page
        assert to.exists(), found[0]
        if found["heading"]:
            assert found["heading"] in anchors(to), found[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_a_page_shows_exist(page: Path) -> None:
    for one in commands(page.read_text()):
        if "…" not in one:
            assert unknown(shlex.split(one)[1:]) == [], one


def test_every_verb_has_a_command_on_some_page() -> None:
    shown = {one.split()[1] for page in PAGES for one in commands(page.read_text())}
    assert set(hardcost.list_commands(click.Context(hardcost))) <= shown
    assert unknown(["bill", "x", "--no-such"]) == ["--no-such"]
    assert unknown(["rules", "lnt"]) == ["lnt"]


def test_the_readme_is_one_page() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    assert len(text.split()) <= 1600


def test_the_list_of_pages_has_a_line_for_each() -> None:
    text = (ROOT / "docs" / "README.md").read_text()
    listed = re.findall(r"^\| \[(\S+)\]\((\S+)\) \| \S", text, re.MULTILINE)
    pages = sorted(page.name for page in (ROOT / "docs").glob("*.md") if page.name != "README.md")
    assert sorted(to for _, to in listed) == pages
    assert all(name == to for name, to in listed)


@pytest.mark.parametrize("page", ["README.md", "docs/installation.md"])
def test_no_page_on_installing_has_an_index_look_for_our_name(page: str) -> None:
    text = (ROOT / page).read_text()
    asked = re.findall(r"pip install (?:-\S+ )*'?([^'\s]+)", text)
    assert all("/" in one or "@" in one for one in asked)
    assert "make run" in text


def test_architecture_can_be_read_in_one_sitting() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 300
