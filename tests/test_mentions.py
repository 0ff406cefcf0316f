"""What a docstring, a comment or a page names between backticks is there."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_FILE = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|rs|toml|sh|jinja))`")
_NAME = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\))?`")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ELSEWHERE = {
    "audit_field_compare": "a function of the kernel",
    "audit_field_valid": "a function of the kernel",
    "audit_filter_task": "a function of the kernel",
    "slab_want_init_on_alloc": "a function of the kernel",
    "BAD": "an answer of git",
    "MODULE.PARAMETER": "a pattern",
    "xccdf_NAMESPACE_rule_": "a pattern",
}
_PATTERNS = ("NAME.toml", "ours.toml")


def tracked() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [
        ROOT / one
        for one in listed.splitlines()
        if (ROOT / one).is_file() and not (ROOT / one).is_symlink()
    ]


@pytest.fixture(scope="module")
def files() -> list[Path]:
    return tracked()


@pytest.fixture(scope="module")
def words(files: list[Path]) -> set[str]:
    """Every word of the tree that is not prose: of code, data and scripts."""
    found: set[str] = set()
    for path in files:
        if path.suffix == ".md":
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        found |= set(_WORD.findall("\n".join(code(text)) if path.suffix == ".py" else text))
    return found


def code(text: str) -> Iterator[str]:
    """Yield the tokens of Python's source that are neither comments nor docstrings."""
    docstrings = {
        node.body[0].value.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and token.start[0] in docstrings
        if token.type != tokenize.COMMENT and not is_docstring:
            yield token.string


def prose(path: Path) -> Iterator[str]:
    """Yield the docstrings and comments of a file of Python."""
    text = path.read_text()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def test_names_in_docstrings_and_comments_are_names_of_the_code(
    files: list[Path], words: set[str]
) -> None:
    gone = [
        f"{path.relative_to(ROOT)}: `{name}`"
        for path in files
        if path.suffix == ".py"
        for text in prose(path)
        for name in _NAME.findall(text)
        if not name.endswith((".py", ".rs", ".toml", ".sh")) and not set(name.split(".")) <= words
    ]
    assert not gone, "\n".join(gone)


def test_files_that_are_named_are_there(files: list[Path]) -> None:
    parts = [path.relative_to(ROOT).parts for path in files]
    known = {"/".join(one[start:]) for one in parts for start in range(len(one))}
    gone = [
        f"{path.relative_to(ROOT)}: `{name}`"
        for path in files
        if path.suffix in {".py", ".md", ".rs"} and path.name != "CHANGELOG.md"
        for text in (prose(path) if path.suffix == ".py" else [path.read_text()])
        for name in _FILE.findall(text)
        if name not in known and not name.endswith(_PATTERNS)
    ]
    assert not gone, "\n".join(gone)
