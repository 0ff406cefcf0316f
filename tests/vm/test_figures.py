"""Figures of the pages that are cheap to produce are those that are produced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bench.documents import figures
from hardcost.machines.vm.content.initramfs import toolchain
from hardcost.supply.packages import host_release

pytestmark = [pytest.mark.vm, pytest.mark.slow]

CHEAP = ("README.md", "docs/audit-rules.md", "docs/prices.md", "docs/studies.md")
"""The pages with commands that take seconds."""
COMPUTED = ("rules", "file", "gate", "price")
"""Which of their commands take seconds, and no guest."""
MEASURED = ("run",)
"""Which take seconds, in guests."""
SHOWN = "bookworm"
"""The release of Debian whose figures the pages show; docs/installation.md says so."""
COMPILER = "rustc 1.95.0 (59807616e 2026-04-14)"
"""What compiled the probe whose figures the pages show: `fork` moves with the probe's code."""
KERNEL = re.compile(r"Measured with kernel (\d+\.\d+\.0-\d+)-amd64,")
"""The kernel that a block names, and is measured with: `fork` moves with each that Debian makes."""


def measured_with_its_kernel(mark: figures.Mark, block: Sequence[str]) -> figures.Mark:
    (version,) = KERNEL.findall("\n".join(block))
    return replace(mark, words=(*mark.words, "--kernel", f"debian:{version}"))


@pytest.mark.skipif(
    host_release.release().codename != SHOWN,
    reason="the pages show what Debian 12's kernel, QEMU and packages give",
)
def test_cheap_blocks_of_the_pages_are_what_is_measured(tmp_path: Path) -> None:
    same_probe = toolchain().startswith(COMPILER)
    wanted = COMPUTED + MEASURED * same_probe
    producer = figures.Producer(tmp_path)
    producer.prepare()
    seen = set()
    for page in CHEAP:
        lines = (figures.ROOT / page).read_text().split("\n")
        for block in figures.blocks(page, lines):
            if block.mark.slow or block.mark.words[0] not in wanted:
                continue
            seen.add(block.mark.words[:2])
            old, mark = block.lines(lines), block.mark
            if mark.words[0] in MEASURED:
                mark = measured_with_its_kernel(mark, old)
            assert producer.produced(mark, old) == (old, []), mark.where
    assert (("run", "clearing.toml") in seen) == same_probe
    assert {("rules", "lint"), ("rules", "optimize")} <= seen
    assert "gate" in {words[0] for words in seen}
