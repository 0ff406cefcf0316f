"""No module of a crate imports, by whatever detour, one that imports it.

Rust allows such circles, so this reads the sources. A name counts as imported from the module that
defines it: what a parent passes on with `pub use` of its own children leads to the child, and makes
no circle of the two. Code under `#[cfg(test)]` is left out, as it may look at anything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
CRATES = PROJECT / "crates"
OTHERS = (PROJECT / "linux-audit/storm",)
"""The crates of the workspace that lie elsewhere."""

MAY_REMOVE_TREES = {
    "keeper/src/safe_files.rs": "its tests, folders with their names",
    "keeper/src/changes/undo.rs": "its tests, folders with their names",
    "probe/src/measure/measured_process.rs": "the folder that it made for a measured process",
    "probe/src/whole_system/service_list.rs": "the folder that it made for services",
    "../linux-audit/storm/src/processes/removers.rs": "below /storm, as process 1 of a guest",
}
"""Files that remove folders with all their content, each with what these are."""

Name = tuple[str, ...]
"""A module or an item by its path from the crate's top, which is ()."""

_NO_CODE = re.compile(
    r"//[^\n]*"  # a comment
    r'|r(#+)".*?"\1|"(?:[^"\\]|\\.)*"'  # a text
    r"|'(?:[^'\\]|\\[^']+|\\')'",  # a character
    re.DOTALL,
)
_TEST = re.compile(r"#\[cfg\(test\)\]\s*(?:pub )?(?:use [^;]*;|mod \w+;|mod \w+ \{.*)", re.DOTALL)
_USE = re.compile(r"^\s*(pub(?:\([a-z]+\))? )?use ([^;]+);", re.MULTILINE)
_PATH = re.compile(r"(?<![\w:])[A-Za-z_]\w*(?:::\w+)+")


_STARTS: dict[str, Callable[[Name], Name]] = {
    "crate": lambda _: (),
    "self": lambda here: here,
    "super": lambda here: here[:-1],
}


@dataclass
class Module:
    """A module's name, the names that it brings in, and the paths in the rest of it."""

    name: Name
    uses: dict[str, Name] = field(default_factory=dict)
    public: set[str] = field(default_factory=set)
    paths: list[Name] = field(default_factory=list)


def _branches(tree: str) -> Iterator[Name]:
    """Yield the paths of a `use`, with the name that each gets at the end."""
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = tree.strip().partition(" as ")
        names = tuple(path.strip().split("::"))
        names = names[:-1] if names[-1] == "self" and len(names) > 1 else names
        yield (*names, alias.strip() or names[-1])
        return
    before = tuple(part for part in head.strip().split("::") if part)
    depth, start = 0, 0
    inner = rest.rpartition("}")[0] + ","
    for at, sign in enumerate(inner):
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            part, start = inner[start:at].strip(), at + 1
            for branch in _branches(part) if part else ():
                yield (*before, *((before[-1],) if branch[0] == "self" else branch))


def _module(name: Name, source: str) -> Module:
    """Read what a module brings in and names, as it is written."""
    code = _TEST.sub("", _NO_CODE.sub("", source))
    module = Module(name)
    for is_public, tree in _USE.findall(code):
        for *path, alias in _branches(" ".join(tree.split())):
            module.uses[alias] = tuple(path)
            if is_public:
                module.public.add(alias)
    module.paths = [tuple(path.split("::")) for path in _PATH.findall(_USE.sub("", code))]
    return module


def _modules(source: Path) -> dict[Name, Module]:
    """Read the modules of a crate whose top is main.rs or lib.rs in this folder, or both as one."""
    found: dict[Name, Module] = {}
    for file in sorted(source.rglob("*.rs")):
        name = file.relative_to(source).with_suffix("").parts
        name = name[:-1] if name[-1] in {"mod", "main", "lib"} else name
        module = _module(name, file.read_text())
        top = found.setdefault(name, module)
        if top is not module:
            top.uses |= module.uses
            top.public |= module.public
            top.paths += module.paths
    return found


def _resolved(modules: Mapping[Name, Module], here: Name, path: Name) -> Name | None:
    """Return the module that defines what a path in the module `here` names.

    None: another crate does, or it names a module and nothing in it.
    """
    if (*here, path[0]) not in modules and path[0] in modules[here].uses:
        path = (*modules[here].uses[path[0]], *path[1:])
    if (*here, path[0]) not in modules and path[0] not in _STARTS:
        return None
    at, rest = here, path
    while rest and rest[0] in _STARTS:
        at, rest = _STARTS[rest[0]](at), rest[1:]
    while rest and (*at, rest[0]) in modules:
        at, rest = (*at, rest[0]), rest[1:]
    if not rest:
        return None
    passed_on = at != here and rest[0] in modules[at].uses
    return (passed_on and _resolved(modules, at, rest[:1])) or at


def _imports(modules: Mapping[Name, Module]) -> dict[Name, set[Name]]:
    """Return from which modules each imports something."""
    graph = {}
    for name, module in modules.items():
        targets = {_resolved(modules, name, path) for path in module.paths}
        for alias, path in module.uses.items():
            target = _resolved(modules, name, path)
            if target is None or alias not in module.public or target[: len(name)] != name:
                targets.add(target)
        graph[name] = {target for target in targets if target is not None and target != name}
    return graph


def circle(source: Path) -> list[str]:
    """Return the modules of one circle of imports, the first again at the end; none: []."""
    try:
        TopologicalSorter(_imports(_modules(source))).prepare()
    except CycleError as error:
        return ["::".join(("crate", *name)) for name in reversed(error.args[1])]
    return []


def _sources() -> Iterator[Path]:
    """Yield the Rust files of all crates."""
    for folder in (CRATES, *OTHERS):
        yield from folder.rglob("*.rs")


@pytest.mark.parametrize("crate", [*sorted(CRATES.iterdir()), *OTHERS], ids=lambda path: path.name)
def test_no_crate_has_a_circle_of_imports(crate: Path) -> None:
    found = circle(crate / "src")
    assert not found, f"{crate.name}: {' → '.join(found)}"


def _crate(folder: Path, **sources: str) -> Path:
    """Write a crate's modules; `__` in a name stands for a folder."""
    for name, source in sources.items():
        path = folder / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(exist_ok=True)
        path.write_text(source)
    return folder


def test_a_circle_is_named_however_it_is_written(tmp_path: Path) -> None:
    found = circle(
        _crate(
            tmp_path,
            main="mod one;\nmod two;\nmod three;\nfn main() { one::run() }",
            one="use std::fmt as f;\nuse crate::{two::{self, Two}};\npub fn run() {}",
            two="use super::three;\npub struct Two;\nfn f() { three::deep::call('\"') }",
            three__mod="pub mod deep;",
            three__deep='/// "\nfn call() { crate::one::run() } // "',
        )
    )
    names = ["crate::one", "crate::two", "crate::three::deep"]
    assert sorted(found[1:]) == sorted(names)
    assert found[0] == found[-1]
    start = names.index(found[0])
    assert found[:-1] == names[start:] + names[:start]


def test_what_a_parent_defines_and_lists_makes_a_circle(tmp_path: Path) -> None:
    child = "use super::Call;\npub struct Null;\nimpl Call for Null {}"
    parent = "mod basic;\npub trait Call {}\nconst ALL: &[E] = &[entry::<basic::Null>()];"
    assert circle(_crate(tmp_path, calls__mod=parent, calls__basic=child, lib="mod calls;"))


def test_a_circle_through_the_library_is_found_beside_a_program(tmp_path: Path) -> None:
    sources = {
        "lib": "pub mod one;\npub fn name() {}\nfn f() { one::run() }",
        "one": "use crate::name;\npub fn run() { name() }",
    }
    assert circle(_crate(tmp_path, **sources))
    assert circle(_crate(tmp_path, main="fn main() { this::one::run() }"))


def test_what_a_parent_passes_on_makes_none_and_hides_none(tmp_path: Path) -> None:
    sources = {
        "lib": "mod room;\nmod user;",
        "room__mod": "mod inner;\nmod word;\npub use self::inner::Inner;\npub use word::Word;",
        "room__inner": "use super::Word;\npub struct Inner(Word);",
        "room__word": "pub struct Word;",
        "user": "use crate::room::Inner;\npub fn f(_: Inner) {}",
    }
    assert not circle(_crate(tmp_path, **sources))
    behind = circle(_crate(tmp_path, room__word="use crate::user;\nfn g() { user::f() }"))
    assert sorted(behind[1:]) == ["crate::room::inner", "crate::room::word", "crate::user"]


def test_tests_may_look_at_anything(tmp_path: Path) -> None:
    test = "pub fn g() {}\n#[cfg(test)]\nmod tests {\n    use crate::two::f;\n}"
    two = "use crate::one::g;\npub fn f() { g() }"
    assert not circle(_crate(tmp_path, lib="mod one;\nmod two;", one=test, two=two))


def test_conditions_hold_no_let_as_the_oldest_rust_that_is_supported_has_none() -> None:
    # Debian 13's Rust is 1.85; `if a && let Some(b) = c` compiles since 1.88.
    chained = re.compile(r"(?:&&|\|\|)\s*let\b|\b(?:if|while) let\b[^;{]*\n\s*&&")
    for path in _sources():
        code = _NO_CODE.sub('""', path.read_text(encoding="utf-8"))
        assert not chained.search(code), path


def test_folders_are_removed_whole_only_where_that_is_known_and_by_tempfile_in_tests() -> None:
    files = (path for path in _sources() if "remove_dir_all" in path.read_text())
    found = {os.path.relpath(path, CRATES) for path in files}
    assert found == MAY_REMOVE_TREES.keys()
