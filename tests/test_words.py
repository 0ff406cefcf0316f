"""The words that docs/style.md forbids are in nothing that a person reads.

Read are pages, docstrings, comments, messages and recorded conversations. Not read are identifiers,
what is in backticks, patches of the kernel, and CHANGELOG.md, whose released parts stay.
"""

from __future__ import annotations

import io
import re
import subprocess
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path("docs/style.md")
# The list of names has identifiers alone.
UNREAD = tuple(
    map(Path, ("CHANGELOG.md", "docs/style.md", "tests/test_words.py", "tests/test_names.txt"))
)
SUFFIXES = {".md", ".py", ".rs", ".toml", ".txt", ".j2", ".js", ".css", ".yml", ".sh", ".c", ""}
FOREIGN = ("LICENSE", "linux-audit/COPYING")
"""Texts that others wrote."""

_USER, _TOLD, _RUN = "somebody/nobody", "tell/tells/told/telling", "stretch/stretches/stretched"
# Words that are others', or that have another sense. A test finds those that are not needed.
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("conformance/violations.py", _USER): "the name of a user",
    ("src/hardcost/machines/vm/content/initramfs.py", _USER): "the user of that name",
    ("tests/cli/test_bill.py", _USER): "the user of that name",
    ("src/hardcost/supply/images/debian-setup.sh", _TOLD): "its bytes are in an image's identity",
    ("src/hardcost/supply/images/debian-setup.sh", _USER): "its bytes are in an image's identity",
    ("src/hardcost/workloads/building/check.c", _TOLD): "its bytes are what `build` compiles",
    ("crates/tcg-plugin/src/follower.rs", _RUN): "a word of the plugin's output",
    ("crates/tcg-plugin/src/follower/report.rs", _RUN): "a word of the plugin's output",
    ("tests/protocol/plugin/test_schedule.py", _RUN): "a word of the plugin's output",
    ("tests/protocol/plugin/test_stacks.py", _RUN): "a word of the plugin's output",
}

_CODE = "\0"
_RUST = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|b?r(?P<hash>\#*)"(?P<raw>.*?)"(?P=hash)"""
    r"""|"(?P<text>(?:\\.|[^"\\])*)"|'(?:\\.[^']*|[^'\\])'""",
    re.DOTALL,
)
_QUOTED = re.compile(r"``.+?``|`[^`\n]+(?:\n[^`\n]+)?`")


@cache
def forbidden() -> dict[str, re.Pattern[str]]:
    """Return a pattern for each phrase in the table's third column, by the phrase."""
    table = (ROOT / TABLE).read_text().split("| write | for | not |")[1]
    cells = [line.split("|")[3] for line in table.splitlines() if line.count("|") == 4]
    found = [phrase for cell in cells for phrase in re.findall(r"`([^`]+)`", cell)]
    return {phrase: re.compile(_any_form(phrase), re.IGNORECASE) for phrase in found}


@cache
def _anything() -> re.Pattern[str]:
    """Return one pattern for all phrases: most files have none, and a search is enough."""
    return re.compile("|".join(map(_any_form, forbidden())), re.IGNORECASE)


def _any_form(phrase: str) -> str:
    """Return the expression for a phrase, whatever its forms, and across the end of a line."""
    return r"\b" + r"\s+".join(f"(?:{word.replace('/', '|')})" for word in phrase.split()) + r"\b"


def read_by_people(path: Path, text: str) -> str:
    """Return what a person reads of a file, every letter in its place, and the rest as zeros."""
    if path.suffix == ".py":
        text = _of_python(text)
    elif path.suffix == ".rs":
        text = _of_rust(text)
    if path.suffix != ".md":
        text = re.sub(r"^(\s*)(?:#+|//[/!]?)(?=\s)", _blank, text, flags=re.MULTILINE)
    return _QUOTED.sub(lambda found: re.sub(r"\S", "`", found[0]), text)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"\S", " ", found[0])


def _of_python(text: str) -> str:
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    result = list(re.sub(r"\S", _CODE, text))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        begin, end = (starts[row - 1] + column for row, column in (token.start, token.end))
        if token.type == tokenize.COMMENT:
            result[begin:end] = text[begin:end]
        elif token.type == tokenize.STRING:
            result[begin:end] = _literal(token.string)
    return "".join(result)


def _literal(text: str) -> str:
    """Return a literal without its quotes if it holds words; a single one may be an identifier."""
    found = re.fullmatch(r"""([A-Za-z]*)(\"{3}|'{3}|"|')(.*)\2""", text, re.DOTALL)
    assert found is not None, text
    prefix, quote, inner = found[1], found[2], found[3]
    if not re.search(r"\s", inner.strip()) and not inner.startswith(" "):
        return re.sub(r"\S", _CODE, text)
    if "f" in prefix.lower():
        inner = re.sub(r"\{[^{}]*\}", lambda one: _CODE * len(one[0]), inner)
    inner = inner.replace("\\n", "  ")
    return " " * len(prefix + quote) + inner + " " * len(quote)


def _of_rust(text: str) -> str:
    result = list(re.sub(r"\S", _CODE, text))
    for found in _RUST.finditer(text):
        read = found["comment"] or found["raw"] or found["text"] or ""
        if " " in read.strip():
            begin = found.start() + found[0].index(read)
            result[begin : begin + len(read)] = read
    return "".join(result)


@cache
def files() -> list[Path]:
    """Return the project's files that a person reads."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    paths = [Path(name) for name in listed if name and not name.startswith(FOREIGN)]
    return [
        path
        for path in paths
        if path.suffix in SUFFIXES and path not in UNREAD and (ROOT / path).is_file()
    ]


@cache
def finds(path: Path) -> list[tuple[str, int, str]]:
    """Return each forbidden phrase of a file, with its line and the words found."""
    try:
        text = read_by_people(path, (ROOT / path).read_text())
    except UnicodeDecodeError:
        return []
    if not _anything().search(text):
        return []
    return [
        (phrase, text.count("\n", 0, found.start()) + 1, " ".join(found[0].split()))
        for phrase, pattern in forbidden().items()
        for found in pattern.finditer(text)
    ]


@pytest.mark.parametrize("folder", sorted({path.parts[0] for path in files()}))
def test_no_forbidden_word_is_in_what_a_person_reads(folder: str) -> None:
    wrong = [
        f"{path}:{line}: {words}"
        for path in files()
        if path.parts[0] == folder
        for phrase, line, words in finds(path)
        if (str(path), phrase) not in EXCEPTIONS
    ]
    assert not wrong, "\n".join(wrong)


def test_each_exception_is_needed() -> None:
    found = {(str(path), phrase) for path in files() for phrase, _, _ in finds(path)}
    assert set(EXCEPTIONS) <= found


def test_forms_of_a_phrase_are_all_found() -> None:
    pattern = re.compile(_any_form("stand/stands in/on"), re.IGNORECASE)
    assert pattern.search("It stands\n  on a line")
    assert not pattern.search("It stands for a line")
    assert all(
        re.search(_any_form("come/came of"), f"what {verb} of it") for verb in ("come", "came")
    )


@pytest.mark.parametrize(
    ("name", "text", "seen"),
    [
        ("x.py", 'told = f"no {told} here"', False),
        ("x.py", 'x["told"]', False),
        ("x.py", 'x = "it was told"', True),
        ("x.py", "x = 1  # it was told", True),
        ("x.py", '"""See `told`."""', False),
        ("x.rs", "let told = 1;", False),
        ("x.rs", "// is told", True),
        ("x.rs", 'let x = "is told";', True),
        ("x.md", "is told", True),
        ("x.md", "is `told`", False),
    ],
)
def test_identifiers_are_not_read_and_words_are(name: str, text: str, *, seen: bool) -> None:
    found = forbidden()["tell/tells/told/telling"].search(read_by_people(Path(name), text))
    assert (found is not None) is seen
