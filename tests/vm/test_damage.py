"""A damaged cache gives the numbers of a whole one, and a word that it was made again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hardcost.supply.cache.folders import delete
from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

STUDY = """
title = "damage"
workloads = ["syscalls calls=null"]
baseline = "plain"
[[configuration]]
name = "plain"
"""
NOPS = b"\x90" * 64
ZERO = "/dev/zero"


def middle(path: Path, what: bytes) -> None:
    """Write over what lies in the middle of the data of a file."""
    with path.open("r+b") as file:
        at = os.lseek(file.fileno(), path.stat().st_size // 8, os.SEEK_DATA)
        file.seek(at + 4096)
        file.write(what)


def relinked(place: Path, aim: str) -> None:
    """Replace a file or folder by a link."""
    delete(place)
    place.symlink_to(aim)


Damage = Callable[[Path], object]
ROUNDS: tuple[dict[str, tuple[str, Damage]], ...] = (
    {
        "snapshots": ("its memory", lambda place: middle(place / "ram", NOPS)),
        "guests": ("a cut initramfs", lambda place: os.truncate(place / "initrd.cpio", 1 << 20)),
        "kernels": ("a byte", lambda place: middle(place / "vmlinux", b"\0\1")),
    },
    {
        "snapshots": ("a link for an entry", lambda place: relinked(place, "/dev")),
        "guests": ("a device for a manifest", lambda place: relinked(place / "manifest", ZERO)),
        "kernels": ("no release", lambda place: (place / "release").unlink()),
    },
)
"""What is damaged at once, by kind of entry; each kind has to be made again by itself."""


@pytest.mark.lengthy
def test_damage_is_healed_whatever_it_is(hardcost_apart: Command) -> None:
    study = hardcost_apart.write("study.toml", STUDY)
    words = ("run", study, "--fresh", "--format", "json")
    for kind in ("guests", "kernels"):  # what is linked to the ordinary cache is not to be damaged
        shutil.rmtree(hardcost_apart.cache / kind)
    whole = hardcost_apart(*words)
    assert "cache: " not in whole.err
    for damages in ROUNDS:
        for kind, (_, damage) in damages.items():
            for place in (hardcost_apart.cache / kind).glob("[!.]*"):
                damage(place)
        after = hardcost_apart(*words)
        for kind, (what, _) in damages.items():
            assert f"cache: {kind} " in after.err, (kind, what)
        assert after.raw_cells() == whole.raw_cells(), damages
    assert "cache: " not in hardcost_apart(*words).err
