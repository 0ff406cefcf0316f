"""Figures of the pages that are cheap to produce are those that are produced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench import figures
from hardcost.machines import host
from hardcost.machines.qemu.initramfs import toolchain

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.vm

COMPUTED = ("rules", "file")
"""Which of the commands in README.md take seconds, and no guest."""
MEASURED = ("run",)
"""Which take seconds, in guests."""
SHOWN = "bookworm"
"""The release of Debian whose figures the pages show; the README says so."""
COMPILER = "rustc 1.95.0 (59807616e 2026-04-14)"
"""What compiled the probe whose figures README.md shows: `fork` moves with the probe's code."""


@pytest.mark.skipif(
    host.release().codename != SHOWN,
    reason="the pages show what Debian 12's kernel, QEMU and packages give",
)
def test_cheap_blocks_of_the_readme_are_what_is_measured(tmp_path: Path) -> None:
    same_probe = toolchain().startswith(COMPILER)
    wanted = COMPUTED + MEASURED * same_probe
    producer = figures.Producer(tmp_path)
    producer.prepare()
    lines = (figures.ROOT / "README.md").read_text().split("\n")
    seen = set()
    for block in figures.blocks("README.md", lines):
        if block.mark.slow or block.mark.words[0] not in wanted:
            continue
        seen.add(block.mark.words[:2])
        old = block.lines(lines)
        assert producer.produced(block.mark, old) == (old, []), block.mark.where
    assert (("run", "clearing.toml") in seen) == same_probe
    assert ("rules", "lint") in seen
