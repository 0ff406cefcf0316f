"""A public name stands for one thing, and no import renames one."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ("src", "audit_rules/src", "conformance")
EVERYWHERE = (*SOURCES, "audit_rules/tests", "bench", "linux-audit", "tests")
OURS = frozenset({"auditrules", "bench", "conformance", "hardcost", "tests"})
LIST = Path(__file__).with_suffix(".txt")
SAME_ROLE = {"Parameters": "what can be asked of a workload, in the file of each"}


def trees(folders: tuple[str, ...]) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT), ast.parse(path.read_text())


def defined(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield each public name of a file, and whether it is a type's."""
    for node in tree.body:
        names: list[str] = []
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names = [node.name]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
        for name in names:
            if not name.startswith("_"):
                yield name, name[0].isupper() and not name.isupper()


def repeated() -> dict[bool, dict[str, list[str]]]:
    """Return the names that several files define, types and others, with the files."""
    found: dict[tuple[str, bool], list[str]] = {}
    for path, tree in trees(SOURCES):
        for name in dict.fromkeys(defined(tree)):
            found.setdefault(name, []).append(str(path))
    several = {key: files for key, files in found.items() if len(files) > 1}
    return {
        kind: {name: files for (name, of), files in sorted(several.items()) if of == kind}
        for kind in (True, False)
    }


def test_no_type_s_name_stands_for_two_things() -> None:
    assert repeated()[True].keys() == SAME_ROLE.keys()


def test_a_function_or_constant_that_repeats_another_s_name_is_a_choice() -> None:
    """The list beside this file has them; `HARDCOST_REWRITE=1` writes it."""
    found = repeated()[False]
    text = "".join(f"{name}: {', '.join(files)}\n" for name, files in found.items())
    if os.environ.get("HARDCOST_REWRITE"):
        LIST.write_text(text)
    assert LIST.read_text() == text


def test_no_import_renames_what_is_ours() -> None:
    renamed = [
        f"{path}: {node.module}.{one.name} as {one.asname}"
        for path, tree in trees(EVERYWHERE)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS
        for one in node.names
        if one.asname
    ]
    assert not renamed
