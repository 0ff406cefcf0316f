"""The file of a price list: written and read back, and refused where it is damaged."""

from __future__ import annotations

import json

import pytest

from hardcost.errors import InputError
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.prices.listed import listed, measurable
from hardcost.prices.price_list import (
    ListedPrice,
    ListHead,
    PriceList,
    read,
    shipped_lists,
    written,
)

HEAD = ListHead(
    environment={"kernel": "6.1.0-57-amd64", "qemu": "7.2.22"},
    programs="0123",
    instrument="insn",
    unit="insn/op",
    date="2026-12-01",
    against="a small guest",
    trials=4,
    base={"syscalls": {"null": 502.0, "open": 5512.0}},
    least={"syscalls": {"open": 3.5}},
)
PRICES = (
    ListedPrice(control="a.b=1", costs={"syscalls": {"open": (12.5, 12.0, 13.0)}}),
    ListedPrice(control="slow=1", without="slow=0", missing={"syscalls-more": "it died"}),
    ListedPrice(control="nosuch=1", why="the kernel has none"),
)
LIST = PriceList(name="6.1", head=HEAD, prices=PRICES)


def test_a_list_is_read_as_it_was_written() -> None:
    assert read(written(LIST).encode(), "6.1.jsonl") == LIST


def test_a_cost_that_is_none_takes_no_room() -> None:
    assert json.loads(written(LIST).splitlines()[3]) == {
        "control": "nosuch=1",
        "why": "the kernel has none",
    }


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (0, "{}", "x.jsonl:1 is damaged: environment: Field required"),
        (2, "{", "x.jsonl:3 is damaged: Invalid JSON"),
        (2, '{"control": ""}', "x.jsonl:3 is damaged: control"),
        (1, '{"control": "a", "costs": {"syscalls": {"open": [1]}}}', "x.jsonl:2 is damaged"),
        (1, '{"control": "a", "costs": {"syscalls": {"open": [NaN, 1, 1]}}}', "x.jsonl:2"),
        (1, '{"control": "nosuch=1"}', "x.jsonl has nosuch=1 twice"),
        (1, '{"control": "a", "costs": {"syscalls": {"chmod": [1, 1, 1]}}}', "chmod"),
    ],
)
def test_damage_is_refused_with_its_line(line: int, text: str, said: str) -> None:
    lines = written(LIST).splitlines()
    lines[line] = text
    with pytest.raises(InputError, match=said.replace("[", r"\[")):
        read("\n".join(lines).encode(), "x.jsonl")


def test_an_empty_file_is_no_list() -> None:
    with pytest.raises(InputError, match=r"x\.jsonl is empty"):
        read(b"", "x.jsonl")


def test_a_kernel_has_a_version() -> None:
    assert (LIST.kernel, LIST.version) == ("6.1.0-57-amd64", "6.1")


def test_a_price_is_found_by_the_controls_name() -> None:
    assert LIST.price_of("a.b=1") == PRICES[0]
    assert LIST.price_of("a.b=2") is None


def test_each_control_of_the_catalogue_is_listed_once() -> None:
    names = [one.name for one in listed()]
    assert len(names) == len(set(names))


def test_what_has_no_price_says_why() -> None:
    lacking = [one for one in listed() if one.measured is None and one.equivalent is None]
    assert lacking
    assert [one.name for one in lacking if not one.why] == []


def test_a_default_is_measured_by_what_switches_it_off() -> None:
    found = {one.name: one.measured for one in measurable()}
    off = {name: found[name].name for name in ("init_on_alloc=1", "nopti", "mds")}  # type: ignore[union-attr]
    assert off == {"init_on_alloc=1": "init_on_alloc=0", "nopti": "nopti", "mds": "mds=off"}
    sysctls = {name: found[name].name for name in found if name.startswith("kernel.randomize")}  # type: ignore[union-attr]
    assert sysctls == {"kernel.randomize_va_space=2": "kernel.randomize_va_space=0"}


def test_the_lists_that_come_with_hardcost_have_every_control_that_can_be_measured() -> None:
    wanted = {one.name for one in measurable() if not isinstance(one.measured, KernelOption)}
    options = {one.name for one in measurable()} - wanted
    for version in dict.fromkeys(one.version for one in shipped_lists()):
        lists = [one for one in shipped_lists() if one.version == version]
        listed_names = {price.control for one in lists for price in one.prices}
        assert wanted == listed_names - options


def test_a_list_of_kernel_options_has_prices_and_reasons() -> None:
    """Which kernels were built decides what it has; it has no option that can't be measured."""
    (found,) = [one for one in shipped_lists() if one.name.endswith("-options")]
    options = {one.name for one in measurable() if isinstance(one.measured, KernelOption)}
    assert {one.control for one in found.prices} <= options
    assert any(one.costs for one in found.prices)
    assert all(one.why != "" for one in found.prices)
    assert "without hardening" in found.head.against
