"""Functions that were stripped from a program are named by its debug file."""

from __future__ import annotations

import subprocess
from importlib import resources
from pathlib import Path

import pytest

from hardcost.machines.vm.plugin import debug_files, elf_symbols
from hardcost.machines.vm.plugin.code_maps import programs
from hardcost.machines.vm.plugin.counting import _programs
from hardcost.protocol.ask import install
from tests.protocol.json_messages import typed

SOURCE = """\
static __attribute__((noinline)) int hidden(int number) { return number * 3 + 1; }
int shown(int number) { return hidden(number) + hidden(number + 1); }
"""


def _run(*words: str | Path) -> None:
    subprocess.run([str(word) for word in words], check=True)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stripped library, whose debug file is installed."""
    source, built = tmp_path / "one.c", tmp_path / "libone.so"
    source.write_text(SOURCE)
    _run("gcc", "-O1", "-shared", "-fPIC", "-g", "-Wl,--build-id=sha1", "-o", built, source)
    build_id = elf_symbols.build_id(built.read_bytes())
    debug = tmp_path / "debug" / build_id[:2] / f"{build_id[2:]}.debug"
    debug.parent.mkdir(parents=True)
    _run("objcopy", "--only-keep-debug", built, debug)
    _run("strip", built)
    monkeypatch.setattr(debug_files, "INSTALLED", tmp_path / "debug")
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "fetched"))
    return built


def _names(functions: list[elf_symbols.Function]) -> set[str]:
    return {one.name for one in functions}


def _answered(library: Path, folder: Path) -> list[str]:
    """Return what a guest with this library says, by its script, as the plugin takes it."""
    maps = folder / "maps"
    size = library.stat().st_size
    maps.write_text(f"name user\n7f0000000000-{0x7F0000000000 + size:x} r-xp 0 8:1 9 {library}\n")
    script = resources.files("hardcost.machines.vm.plugin") / "exported-functions.pl"
    subprocess.run(["perl", "-", str(maps)], input=script.read_bytes(), check=True)
    answer = {"event": "content", "name": "hardcost-code-maps", "path": "/run/x", "bytes": 1}
    return programs(typed([{**answer, "text": maps.read_text()}])).splitlines()


def test_a_stripped_library_has_its_hidden_functions(library: Path, tmp_path: Path) -> None:
    (hidden, shown) = (
        one
        for one in debug_files.functions(elf_symbols.build_id(library.read_bytes()))
        if one.name in {"hidden", "shown"}
    )
    said = _answered(library, tmp_path)
    # The code of a library lies in its file where it lies in memory, as linkers write it.
    for one in hidden, shown:
        assert f"function {0x7F0000000000 + one.address:x} {one.size:x} {one.name}" in said


def test_without_its_debug_file_a_library_has_what_it_exports(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debug_files, "INSTALLED", tmp_path / "nothing")
    said = "\n".join(_answered(library, tmp_path))
    assert " shown\n" in said
    assert "hidden" not in said


def test_what_was_fetched_is_found_and_only_for_its_program(library: Path, tmp_path: Path) -> None:
    build_id = elf_symbols.build_id(library.read_bytes())
    installed = tmp_path / "debug" / build_id[:2] / f"{build_id[2:]}.debug"
    fetched = tmp_path / "fetched" / build_id / "debuginfo"
    fetched.parent.mkdir(parents=True)
    installed.rename(fetched)
    assert "hidden" in _names(debug_files.functions(build_id))
    another = "0" * len(build_id)
    fetched.parent.rename(fetched.parent.with_name(another))
    assert debug_files.functions(another) == []


@pytest.mark.parametrize("build_id", ["", "none", "../../../etc/passwd", "ab", "0" * 40])
def test_what_is_no_build_id_names_no_file(build_id: str) -> None:
    assert debug_files.functions(build_id) == []


def test_a_users_stripped_program_has_its_functions(library: Path) -> None:
    lines = list(_programs([install("/usr/bin/user", library.read_bytes())]))
    assert lines[0] == "program user"
    assert any(line.endswith(" hidden") for line in lines)


def test_a_damaged_file_has_no_build_id(library: Path) -> None:
    content = library.read_bytes()
    assert elf_symbols.build_id(b"#!/bin/sh\n") == ""
    for end in (0x20, 0x40, 0x78, len(content) // 2):
        assert isinstance(elf_symbols.build_id(content[:end]), str)
