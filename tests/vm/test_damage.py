"""A damaged cache gives the numbers of a whole one, and a word that it was made again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.vm.conftest import Command

from hardcost.supply.cache.folders import delete

pytestmark = [pytest.mark.vm, pytest.mark.slow]

STUDY = """
title = "damage"
workloads = ["syscalls calls=null"]
baseline = "plain"
[[configuration]]
name = "plain"
"""
NOPS = b"\x90" * 64


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


DAMAGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "the memory of a snapshot": ("snapshots", lambda place: middle(place / "ram", NOPS)),
    "no state of a snapshot": ("snapshots", lambda place: (place / "state").unlink()),
    "a cut initramfs": ("guests", lambda place: os.truncate(place / "initrd.cpio", 1 << 20)),
    "a kernel's byte": ("kernels", lambda place: middle(place / "vmlinux", b"\0\1")),
    "a device for a manifest": ("guests", lambda place: relinked(place / "manifest", "/dev/zero")),
    "a link for an entry": ("snapshots", lambda place: relinked(place, "/dev")),
    "no release": ("kernels", lambda place: (place / "release").unlink()),
}


def test_damage_is_healed_whatever_it_is(hardcost_apart: Command) -> None:
    study = hardcost_apart.write("study.toml", STUDY)
    words = ("run", study, "--fresh", "--format", "json")
    for kind in ("guests", "kernels"):  # what is linked to the ordinary cache is not to be damaged
        shutil.rmtree(hardcost_apart.cache / kind)
    whole = hardcost_apart(*words)
    assert "cache: " not in whole.err
    for what, (kind, damage) in DAMAGE.items():
        for place in (hardcost_apart.cache / kind).glob("[!.]*"):
            damage(place)
        after = hardcost_apart(*words)
        assert f"cache: {kind} " in after.err, what
        assert after.raw_cells() == whole.raw_cells(), what
    assert "cache: " not in hardcost_apart(*words).err
