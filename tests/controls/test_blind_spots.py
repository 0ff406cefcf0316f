from __future__ import annotations

import pytest

from hardcost.controls.control import BootParameter, KernelOption, Sysctl
from hardcost.controls.uncounted import why_uncounted, wrong_value
from hardcost.profiles.kernel import kerneloptions


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
    assert part in (why_uncounted(BootParameter(word)) or "")


def test_options_whose_cost_is_elsewhere_say_so_under_both_names() -> None:
    old, new = KernelOption("PAGE_TABLE_ISOLATION", "y"), KernelOption("MITIGATION_SLS", "y")
    assert "page tables" in (why_uncounted(old) or "")
    assert "never executed" in (why_uncounted(new) or "")


def test_what_is_counted_has_no_caveat() -> None:
    for control in (
        BootParameter("init_on_alloc=1"),
        KernelOption("SLAB_FREELIST_HARDENED", "y"),
        Sysctl("kernel.unprivileged_bpf_disabled", "1"),
    ):
        assert why_uncounted(control) is None
        assert wrong_value(control) is None


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("mds=ful", "full"),
        ("mitigations=of", "off"),
        ("pti=onn", "on"),
        ("tsx_async_abort=zzz", "off or full or full,nosmt or auto or auto,nosmt"),
    ],
)
def test_a_value_that_no_kernel_takes_is_reported_with_the_one_that_was_meant(
    word: str, meant: str
) -> None:
    assert wrong_value(BootParameter(word)) == meant


@pytest.mark.parametrize(
    "word",
    ["mds=full,nosmt", "pti=auto", "mitigations=auto;no_user_kernel", "nosmt", "nosmt=force"],
)
def test_values_that_a_kernel_takes_are_not_doubted(word: str) -> None:
    assert wrong_value(BootParameter(word)) is None


def test_values_that_the_catalogue_recommends_are_not_doubted() -> None:
    words = [word for one in kerneloptions.boot_parameters() if (word := one.control)]
    assert words
    assert [one.text for one in words if wrong_value(one)] == []
