"""Figures of the pages that are cheap to produce are those that are produced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench import figures
from hardcost.machines import host

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.vm

CHEAP = ("rules", "file", "run")
"""Which of the commands in README.md take seconds."""
SHOWN = "bookworm"
"""The release of Debian whose figures the pages show; the README says so."""


@pytest.mark.skipif(
    host.release().codename != SHOWN,
    reason="the pages show what Debian 12's kernel, QEMU and packages give",
)
def test_cheap_blocks_of_the_readme_are_what_is_measured(tmp_path: Path) -> None:
    producer = figures.Producer(tmp_path)
    producer.prepare()
    lines = (figures.ROOT / "README.md").read_text().split("\n")
    seen = set()
    for block in figures.blocks("README.md", lines):
        if block.mark.slow or block.mark.words[0] not in CHEAP:
            continue
        seen.add(block.mark.words[:2])
        old = block.lines(lines)
        assert producer.produced(block.mark, old) == (old, []), block.mark.where
    assert ("run", "clearing.toml") in seen
    assert ("rules", "lint") in seen
