"""The pages that people read: links lead somewhere, and commands and files that they name exist."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from hardcost.cli.command import hardcost

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (
    "audit_rules",
    "bench",
    "conformance",
    "crates",
    "docs",
    "linux-audit",
    "scripts",
    "src",
    "tests",
)
PAGES = sorted(
    [*ROOT.glob("*.md"), *(path for one in FOLDERS for path in (ROOT / one).rglob("*.md"))],
    key=str,
)
MAP = ("<!-- the map, by scripts/map -->\n", "<!-- the end of the map -->\n")
_LINK = re.compile(r"\]\((?!https?:)(?P<file>[^)#\s]*)(?:#(?P<heading>[^)]*))?\)")
_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_INLINE = re.compile(r"`(hardcost [^`\n]+)`")
_FILE = re.compile(r"`([\w./-]+\.(?:py|rs|js|sh))`")
_LINE = re.compile(r"^(?:\$ |\.venv/bin/)?(hardcost .+)$", re.MULTILINE)


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


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
    if command.context_settings.get("ignore_unknown_options"):
        return []
    known = {"--help", *(name for one in command.params for name in one.opts)}
    options = [one.partition("=")[0] for one in rest if one.startswith("--")]
    return [one for one in options if one not in known]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_within_the_project_lead_somewhere(page: Path) -> None:
    for found in _LINK.finditer(_FENCE.sub("", page.read_text())):
        to = page.parent / found["file"] if found["file"] else page
        assert to.exists(), found[0]
        if found["heading"]:
            assert found["heading"] in anchors(to), found[0]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_commands_that_a_page_shows_exist(page: Path) -> None:
    for one in commands(page.read_text()):
        if "…" not in one:
            assert unknown(shlex.split(one)[1:]) == [], one


@pytest.fixture(scope="module")
def ends() -> set[str]:
    """Return the paths of all files, and each path without the first of its folders."""
    found: set[str] = set()
    for path in (*ROOT.glob("*.py"), *(one for top in FOLDERS for one in (ROOT / top).rglob("*"))):
        parts = path.relative_to(ROOT).parts
        found |= {"/".join(parts[at:]) for at in range(len(parts))}
    return found


def test_files_that_pages_name_exist(ends: set[str]) -> None:
    for page in PAGES:
        if page.name == "CHANGELOG.md":  # it names files as they were then
            continue
        for one in _FILE.findall(_FENCE.sub("", page.read_text())):
            assert one in ends, f"{_name(page)}: {one}"


def heads() -> Iterator[tuple[Path, str, Path]]:
    """Yield each file with a folder's text, the text, and the folder."""
    for path in (one for top in FOLDERS for one in (ROOT / top).rglob("__init__.py")):
        yield path, ast.get_docstring(ast.parse(path.read_text())) or "", path.parent
    for path in (one for top in FOLDERS for one in (ROOT / top).rglob("*.rs")):
        lines = [one for one in path.read_text().splitlines() if one.startswith("//!")]
        folder = path.with_suffix("")
        if folder.is_dir() or path.stem in {"mod", "lib", "main"}:
            yield path, "\n".join(lines), folder if folder.is_dir() else path.parent


def test_files_that_a_folder_names_are_in_it(ends: set[str]) -> None:
    found = list(heads())
    assert len(found) > 100
    for path, text, folder in found:
        for one in _FILE.findall(text):
            known = one in ends if "/" in one else (folder / one).exists()
            assert known, f"{_name(path)}: {one}"


def test_a_folder_of_the_program_names_each_of_its_files() -> None:
    for package in (ROOT / "src/hardcost").rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(package.read_text())) or ""
        for path in package.parent.glob("*.py"):
            named = path == package or f"`{path.name}`" in text
            assert named, f"{_name(package)} does not say what {path.name} decides or holds"


def test_the_map_is_what_the_folders_say_of_themselves() -> None:
    words = [sys.executable, "scripts/map"]
    printed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    begin, end = MAP
    (shown,) = (ROOT / "ARCHITECTURE.md").read_text().split(begin)[1].split(end)[:1]
    assert shown.strip() == printed.strip(), "scripts/map --write writes it"


def test_a_folder_of_code_without_a_text_is_an_error(tmp_path: Path) -> None:
    words = [sys.executable, str(ROOT / "scripts/map")]
    package = tmp_path / "src/hardcost/toml"
    package.mkdir(parents=True)
    (package / "read.py").touch()
    contract = '{containers = ["hardcost"], layers = ["(toml)"]}'
    (tmp_path / "import_contracts.toml").write_text(
        f"[tool.importlinter]\ncontracts = [{contract}]\n"
    )
    ran = subprocess.run(words, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert ran.returncode == 1
    assert "src/hardcost/toml does not say what it is for" in ran.stderr


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
    pages = [page.name for page in (ROOT / "docs").glob("*.md") if page.name != "README.md"]
    assert sorted(to for _, to in listed) == sorted([*pages, "../linux-audit/flat.md"])
    assert all(name == to for name, to in listed)


@pytest.mark.parametrize("page", ["README.md", "docs/installation.md"])
def test_no_page_on_installing_has_an_index_look_for_our_name(page: str) -> None:
    text = (ROOT / page).read_text()
    asked = re.findall(r"pip install (?:-\S+ )*'?([^'\s]+)", text)
    assert all("/" in one or "@" in one for one in asked)
    assert "make run" in text
