from __future__ import annotations

import platform
from typing import TYPE_CHECKING

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.machines.kernels import source

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a folder with what makes a source one."""
    for name, text in {
        "Makefile": "# SPDX\nVERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 9\nNAME = x\n",
        "Kconfig": "",
        "arch/x86/Kconfig": "",
        "scripts/Makefile.build": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_source_says_which_version_it_is(tree: Path) -> None:
    assert source.from_folder(tree).version == "6.1.9"


def test_a_source_is_named_by_all_that_is_in_it(tree: Path) -> None:
    before = source.from_folder(tree).digest
    assert source.from_folder(tree).digest == before
    (tree / ".git").mkdir()
    (tree / ".git" / "index").write_text("other")
    assert source.from_folder(tree).digest == before
    (tree / "init.c").write_text("int x;")
    changed = source.from_folder(tree).digest
    assert changed != before
    (tree / "init.c").rename(tree / "main.c")
    assert source.from_folder(tree).digest not in {before, changed}


def test_a_folder_that_is_no_source_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a Linux source: it has no Makefile"):
        source.from_folder(tmp_path)
    with pytest.raises(InputError, match="not a Linux source"):
        source.from_folder(tmp_path / "missing")


def test_a_source_that_was_built_in_place_is_refused(tree: Path) -> None:
    (tree / ".config").write_text("CONFIG_A=y\n")
    with pytest.raises(InputError, match="built or configured") as caught:
        source.from_folder(tree)
    assert "mrproper" in (caught.value.problems[0].hint or "")


def test_a_later_debian_without_the_source_says_so_and_what_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = {"ID": "debian", "VERSION_ID": "13", "PRETTY_NAME": "Debian GNU/Linux 13 (trixie)"}
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: said)

    def take() -> None:
        raise MachineError("apt offers no package linux-source-6.1 of Debian's bookworm")

    with pytest.raises(MachineError, match=r"13 \(trixie\) has no source of Linux 6\.1") as raised:
        source._of_debian(take)
    hint = raised.value.problems[0].hint
    assert hint is not None
    assert "--source FOLDER" in hint
