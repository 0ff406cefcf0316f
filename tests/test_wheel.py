"""A wheel holds all that the installed program needs, also when it is built from the sdist.

The sdist is unpacked in a folder of another name, so the probe's programs are built there again:
the only build of them that tests make, and a slow one. What compares the semantics with kernels is
broken there: if it had any part in a trial, the programs could not be built, or would be others.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from hardcost.supply.kernels import patches

PROGRAMS = (
    "hardcost-caller",
    "hardcost-keeper",
    "hardcost-measured",
    "hardcost-noop",
    "hardcost-probe",
    "hardcost-unixbench",
)
PLUGIN = "hardcost-tcg-plugin.so"
PROJECT = Path(__file__).parents[1]
PACKAGE = PROJECT / "src/hardcost"
RULES = PROJECT / "audit_rules"
SERIES = "hardcost/supply/kernels/series/flat"
NAMES = (
    "from hardcost.supply.kernels import patches as p; print([x.name for x in p.read(['flat'])])"
)


@dataclass(frozen=True)
class Elsewhere:
    """The wheel made from the sdist, and the folder that this was unpacked in."""

    wheel: Path
    folder: Path


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel made from this folder, whose programs set-up has built."""
    return hatchling(PROJECT, "wheel", tmp_path_factory.mktemp("here"))


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Elsewhere:
    folder = tmp_path_factory.mktemp("sdist") / "another folder"
    folder.mkdir()
    # Not by tarfile: its safe way to unpack is newer than Debian 12's Python.
    subprocess.run(["tar", "-xzf", hatchling(PROJECT, "sdist", folder), "-C", folder], check=True)
    (unpacked,) = (path for path in folder.iterdir() if path.is_dir())
    _break_conformance(unpacked)
    return Elsewhere(hatchling(unpacked, "wheel", tmp_path_factory.mktemp("there")), unpacked)


def _break_conformance(project: Path) -> None:
    """Make what is no part of the product impossible to compile and to import."""
    for pattern, text in (("crates/conformance/src/*.rs", "!"), ("conformance/*.py", "raise\n")):
        broken = list(project.glob(pattern))
        assert broken, f"an sdist without {pattern}, which its tests need"
        for path in broken:
            path.write_text(text)


def hatchling(project: Path, target: str, into: Path) -> Path:
    """Build as `uv build` does, with the tools that are there; return the one file that comes."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(into)]
    # Its own target folder: one that is shared would show what another folder left there.
    own = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
    subprocess.run(words, cwd=project, check=True, capture_output=True, env=own)
    (made,) = (path for path in into.iterdir() if path.is_file())
    return made


def _content(wheel: Path) -> dict[str, str]:
    """Return the hash of each file by its name, those of the wheel about itself left out."""
    with zipfile.ZipFile(wheel) as file:
        names = [name for name in file.namelist() if name.startswith(("hardcost/", "auditrules/"))]
        assert len(names) == len(set(names))
        return {name: hashlib.sha256(file.read(name)).hexdigest() for name in names}


def test_every_file_of_the_package_is_in_the_wheel(here: Path) -> None:
    files = {
        Path("hardcost", path.relative_to(PACKAGE)).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    patches_of_all = PROJECT / "linux-audit/patches"
    series = {
        f"{SERIES}/{path.relative_to(patches_of_all)}" for path in patches_of_all.rglob("*.patch")
    }
    assert len(series) > 1
    assert files | series <= set(_content(here))
    assert "hardcost/bin/hardcost-probe" in files


def test_a_wheel_holds_the_package_and_nothing_that_only_tests_need(here: Path) -> None:
    with zipfile.ZipFile(here) as wheel:
        names = wheel.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"auditrules", "hardcost"}
    assert [name for name in names if "conformance" in name or "battery" in name] == []
    programs = {name.removeprefix("hardcost/bin/") for name in names if "/bin/" in name}
    assert programs == {*PROGRAMS, PLUGIN, "toolchain"}


def test_the_rules_engine_has_a_wheel_of_its_own_with_all_its_files(tmp_path: Path) -> None:
    package = RULES / "src/auditrules"
    here = {
        path.relative_to(RULES / "src").as_posix(): path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {Path(name).suffix for name in here} == {".py", ".toml", ".tsv", ".typed"}
    with zipfile.ZipFile(hatchling(RULES, "wheel", tmp_path)) as wheel:
        names = wheel.namelist()
        info = next(name.partition("/")[0] for name in names if ".dist-info/" in name)
        there = {name: wheel.read(name) for name in names if not name.startswith(info)}
        licence = wheel.read(f"{info}/licenses/LICENSE")
        metadata = wheel.read(f"{info}/METADATA").decode()
    assert there == here
    assert licence == (PROJECT / "LICENSE").read_bytes()
    required = [
        line.removeprefix("Requires-Dist: ")
        for line in metadata.splitlines()
        if line.startswith("Requires-Dist: ")
    ]
    ours = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert required
    assert set(required) <= set(ours)


def test_hardcost_asks_no_index_for_the_rules_engine(here: Path) -> None:
    with zipfile.ZipFile(here) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = wheel.read(name).decode()
    assert "Requires-Dist: z3-solver" in metadata
    assert "Requires-Dist: auditrules" not in metadata


@pytest.mark.slow
def test_the_wheel_from_the_sdist_is_the_same_byte_for_byte(
    elsewhere: Elsewhere, here: Path
) -> None:
    assert elsewhere.wheel.name == here.name
    assert _content(elsewhere.wheel) == _content(here)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*PROGRAMS, PLUGIN])
def test_programs_depend_neither_on_their_folder_nor_on_conformance(
    elsewhere: Elsewhere, name: str
) -> None:
    program = (elsewhere.folder / "src/hardcost/bin" / name).read_bytes()
    assert program == (PACKAGE / "bin" / name).read_bytes()
    for path in (str(PROJECT), str(elsewhere.folder), str(Path.home() / ".cargo")):
        assert path.encode() not in program


def test_the_wheel_is_installed_and_finds_the_patches(here: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    words = [str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*words, here], check=True, capture_output=True)
    found = subprocess.run(
        [python, "-c", NAMES], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert found.stdout.strip() == str([patch.name for patch in patches.read(["flat"])])


def test_what_is_measured_and_executed_is_small() -> None:
    # With the C library it would be ten times as large, and count as that library is built.
    assert (PACKAGE / "bin/hardcost-measured").stat().st_size < 200_000
    assert (PACKAGE / "bin/hardcost-noop").stat().st_size < 1_000


def test_the_wheel_has_a_tag_that_an_index_takes(here: Path) -> None:
    *_, platform = here.stem.split("-")
    assert platform == "manylinux_2_17_x86_64.manylinux2014_x86_64"


def test_a_program_that_loads_a_library_is_refused_for_that_tag() -> None:
    sys.path.insert(0, str(PROJECT))
    try:
        from hatch_build import check_static  # noqa: PLC0415  (no part of hardcost)
    finally:
        sys.path.remove(str(PROJECT))
    check_static(PACKAGE / "bin/hardcost-probe")
    with pytest.raises(ValueError, match="no static program"):
        check_static(Path(shutil.which("ls") or "/bin/ls"))


def test_the_plugin_asks_for_no_newer_c_library_than_the_tag_says(tmp_path: Path) -> None:
    sys.path.insert(0, str(PROJECT))
    try:
        from hatch_build import check_plugin  # noqa: PLC0415  (no part of hardcost)
    finally:
        sys.path.remove(str(PROJECT))
    check_plugin(PACKAGE / "bin" / PLUGIN)
    newer = tmp_path / PLUGIN
    newer.write_bytes(b"GLIBC_2.2.5\0GLIBC_2.34\0")
    with pytest.raises(ValueError, match="needs a newer C library"):
        check_plugin(newer)
