"""The price list, measured again in part: the same counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.prices.price_list import PriceList, read, shipped_lists
from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

SAMPLE = ("init_on_free=1", "slab_nomerge", "kernel.randomize_va_space=2", "kernel.sysrq=0")
"""A boot parameter that is dear, one that is not, a default, and a sysctl that is free."""


def built(hardcost: Command, folder: Path, *words: str) -> PriceList:
    """Return the list of the sample, measured now."""
    file = folder / "sample.jsonl"
    done = hardcost("pricelist", "build", *words, "-o", str(file))
    assert done.status == 0, done.err
    return read(file.read_bytes(), file.name)


def test_a_sample_measured_again_has_the_prices_of_the_list(
    hardcost: Command, tmp_path: Path
) -> None:
    calls = ("--workload", "syscalls")
    now = built(hardcost, tmp_path, *SAMPLE, *calls)
    before = next((one for one in shipped_lists() if measured_alike(one, now)), None)
    if before is None:  # another kernel, QEMU or probe than the list's: today's is compared
        before = built(hardcost, tmp_path, *SAMPLE, *calls, "--fresh")
    assert now.head.base["syscalls"] == before.head.base["syscalls"]
    for name in SAMPLE:
        ours, theirs = now.price_of(name), before.price_of(name)
        assert ours is not None
        assert theirs is not None
        assert {one: cost for one, (cost, *_) in ours.costs.get("syscalls", {}).items()} == {
            one: cost for one, (cost, *_) in theirs.costs.get("syscalls", {}).items()
        }


def test_what_programs_do_has_a_price_with_its_interval(hardcost: Command, tmp_path: Path) -> None:
    found = built(hardcost, tmp_path, "init_on_free=1", "--workload", "filecopy files=10")
    assert set(found.head.base["filecopy files=10"]) == {"copy", "remove"}  # not their sum
    assert found.head.unit == "insn"
    (price,) = found.prices
    costs = price.costs["filecopy files=10"]
    assert costs["copy"][0] > 0
    assert all(low <= cost <= high for cost, low, high in costs.values())


def measured_alike(one: PriceList, other: PriceList) -> bool:
    """Say whether two lists were made by the same kernel, QEMU, guest and programs."""
    heads = (one.head, other.head)
    facts = ("kernel", "qemu", "cpu_model", "guest")
    values = [tuple(head.environment.get(it) for it in facts) for head in heads]
    return values[0] == values[1] and heads[0].programs == heads[1].programs
