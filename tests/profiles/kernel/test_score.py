from __future__ import annotations

import pytest

from hardcost.profiles.kernel import options
from hardcost.profiles.kernel.score import MissingOption, score_of

RECOMMENDED = {one.option: one.value for one in options.all_controls()}


def missing(**changed: str) -> list[tuple[str, str]]:
    """Return (option, what was found) of what isn't met when some of the recommended changes."""
    return [(one.name, one.found) for one in score_of(RECOMMENDED | changed).missing]


def test_a_configuration_with_all_that_is_recommended_meets_all() -> None:
    found = score_of(RECOMMENDED)
    assert (found.met, found.total, found.missing) == (87, 87, ())


def test_an_empty_configuration_lacks_what_has_to_be_set() -> None:
    found = score_of({})
    assert found.met + len(found.missing) == found.total == 87
    assert {one.found for one in found.missing} == {"n"}
    assert "n" not in {one.wanted for one in found.missing}
    assert found.missing[0] == MissingOption("SLAB_FREELIST_RANDOM", "y", "n", "medium")


def test_what_is_missing_comes_in_published_order() -> None:
    order = [one.option for one in options.all_controls()]
    names = [one.name for one in score_of({"KEXEC_FILE": "y", "AIO": "y", "KSM": "y"}).missing]
    assert names == sorted(names, key=order.index)
    assert {"KEXEC_FILE", "AIO", "KSM"} <= set(names)


def test_a_module_counts_as_set_and_not_as_built_in() -> None:
    assert missing(IP_SCTP="m") == [("IP_SCTP", "m")]
    assert missing(AMD_IOMMU_V2="m") == [("AMD_IOMMU_V2", "m")]


def test_a_number_may_be_larger() -> None:
    assert missing(DEFAULT_MMAP_MIN_ADDR="131072", ARCH_MMAP_RND_BITS="33") == []
    assert missing(DEFAULT_MMAP_MIN_ADDR="0x10000") == []
    assert missing(DEFAULT_MMAP_MIN_ADDR="4096", ARCH_MMAP_RND_BITS="28") == [
        ("DEFAULT_MMAP_MIN_ADDR", "4096"),
        ("ARCH_MMAP_RND_BITS", "28"),
    ]


@pytest.mark.parametrize("value", ["", "y", "x", "9" * 5000])
def test_a_number_that_is_none_is_not_enough(value: str) -> None:
    assert [name for name, _ in missing(DEFAULT_MMAP_MIN_ADDR=value)] == ["DEFAULT_MMAP_MIN_ADDR"]


@pytest.mark.parametrize(
    ("option", "otherwise"),
    [
        ("LEGACY_VSYSCALL_NONE", {"X86_VSYSCALL_EMULATION": "n"}),
        ("MODULE_SIG_FORCE", {"MODULES": "n"}),
        ("DEBUG_LIST", {"LIST_HARDENED": "y"}),
        ("SCHED_STACK_END_CHECK", {"VMAP_STACK": "y"}),
        ("RANDSTRUCT_FULL", {"GCC_PLUGIN_RANDSTRUCT": "y"}),
        ("X86_INTEL_TSX_MODE_OFF", {"CPU_SUP_INTEL": "n"}),
    ],
)
def test_the_same_end_may_be_met_in_another_way(option: str, otherwise: dict[str, str]) -> None:
    fails = {"MODULES": "y", "CPU_SUP_INTEL": "y", "X86_VSYSCALL_EMULATION": "y", option: "n"}
    assert option in [name for name, _ in missing(**fails)]
    assert option not in [name for name, _ in missing(**(fails | otherwise))]


def test_structures_that_are_mixed_within_cache_lines_alone_are_not_mixed_in_full() -> None:
    today = {"RANDSTRUCT_FULL": "n", "RANDSTRUCT_PERFORMANCE": "y", "RANDSTRUCT": "y"}
    assert missing(**today, GCC_PLUGIN_RANDSTRUCT="y") == [
        ("RANDSTRUCT_FULL", "n"),
        ("RANDSTRUCT_PERFORMANCE", "y"),
    ]


def test_what_is_set_by_its_old_name_is_set() -> None:
    assert missing(X86_PTDUMP="y") == [("PTDUMP_DEBUGFS", "y")]
    assert missing(X86_X32="y") == [("X86_X32_ABI", "y")]


def test_what_the_published_value_leaves_unhardened_is_not_counted() -> None:
    assert missing(SECURITY_LOADPIN="y", STATIC_USERMODEHELPER="y") == []


def test_what_is_gone_is_not_counted() -> None:
    assert missing(DEVKMEM="y") == []
