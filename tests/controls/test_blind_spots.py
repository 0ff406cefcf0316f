from __future__ import annotations

import pytest

from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.mechanisms.sysctl import Sysctl


@pytest.mark.parametrize(
    ("word", "part"),
    [
        ("mitigations=off", "a lower bound"),
        ("mitigations=auto,nosmt", "a lower bound"),
        ("pti=on", "page tables"),
        ("nosmt", "one processor with one thread"),
        ("intel_iommu=on", "no such devices"),
        ("iommu.strict=1", "no such devices"),
        ("srbds=off", "microcode"),
    ],
)
def test_parameters_whose_cost_is_elsewhere_say_so(word: str, part: str) -> None:
    assert part in (BootParameter(word).uncounted or "")


def test_options_whose_cost_is_elsewhere_say_so_under_both_names() -> None:
    old, new = KernelOption("PAGE_TABLE_ISOLATION", "y"), KernelOption("MITIGATION_SLS", "y")
    assert "page tables" in (old.uncounted or "")
    assert "never executed" in (new.uncounted or "")


def test_what_is_counted_has_no_caveat() -> None:
    for control in (
        BootParameter("init_on_alloc=1"),
        KernelOption("SLAB_FREELIST_HARDENED", "y"),
        Sysctl("kernel.unprivileged_bpf_disabled", "1"),
    ):
        assert control.uncounted is None
