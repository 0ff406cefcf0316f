"""What a docstring, a comment or a page names between backticks is there."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import subprocess
import tokenize
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
def python(files: list[Path]) -> dict[Path, tuple[list[str], list[str]]]:
    return {path: code_and_prose(path.read_text()) for path in files if path.suffix == ".py"}


@pytest.fixture(scope="module")
def words(files: list[Path], python: dict[Path, tuple[list[str], list[str]]]) -> set[str]:
    """Every word of the tree that is not prose: of code, data and scripts."""
    found: set[str] = set()
    for path in files:
        if path.suffix == ".md" or path == Path(__file__):  # whose list below is no use of a name
            continue
        if path in python:
            found |= set(_WORD.findall("\n".join(python[path][0])))
            continue
        with contextlib.suppress(UnicodeDecodeError):
            found |= set(_WORD.findall(path.read_text()))
    return found


def code_and_prose(text: str) -> tuple[list[str], list[str]]:
    """Return the tokens of a file of Python, and its docstrings and comments, which are none."""
    code: list[str] = []
    prose: list[str] = []
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
        is_prose = token.type == tokenize.COMMENT or is_docstring
        (prose if is_prose else code).append(token.string)
    return code, prose


def test_names_in_docstrings_and_comments_are_names_of_the_code(
    python: dict[Path, tuple[list[str], list[str]]], words: set[str]
) -> None:
    gone = [
        f"{path.relative_to(ROOT)}: `{name}`"
        for path, (_, prose) in python.items()
        for text in prose
        for name in _NAME.findall(text)
        if name not in _ELSEWHERE
        and not name.endswith((".py", ".rs", ".toml", ".sh"))
        and not set(name.split(".")) <= words
    ]
    assert not gone, "\n".join(gone)


def test_files_that_are_named_are_there(
    files: list[Path], python: dict[Path, tuple[list[str], list[str]]]
) -> None:
    parts = [path.relative_to(ROOT).parts for path in files]
    known = {"/".join(one[start:]) for one in parts for start in range(len(one))}
    gone = [
        f"{path.relative_to(ROOT)}: `{name}`"
        for path in files
        if path.suffix in {".py", ".md", ".rs"} and path.name != "CHANGELOG.md"
        for text in (python[path][1] if path in python else [path.read_text()])
        for name in _FILE.findall(text)
        if name not in known and not name.endswith(_PATTERNS)
    ]
    assert not gone, "\n".join(gone)
