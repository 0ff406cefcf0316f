"""Versions sort as dpkg sorts them."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.supply.packages.version import key

RISING = (
    *("1~~", "1~~a", "1~", "1", "1-1~deb12u1", "1-1", "1-1+b1", "1-2", "1a", "1+", "1.0", "1.0a"),
    *("6.1.9-1", "6.1.10-1", "6.1.170-3", "7.2+dfsg-7+deb12u18", "1:0.1", "2:0"),
)


def test_each_of_a_row_is_newer_than_the_one_before() -> None:
    assert sorted(RISING, key=key) == list(RISING)


@pytest.mark.parametrize(("one", "same"), [("1", "1-0"), ("0:1", "1"), ("1.01", "1.1")])
def test_two_ways_to_write_one_version_are_equal(one: str, same: str) -> None:
    assert key(one) == key(same)


@settings(deadline=None)
@given(*(st.from_regex(r"[0-9]([0-9a-b.+~]{0,4})(-[0-9a-b.+~]{1,3})?", fullmatch=True),) * 2)
def test_two_versions_compare_as_dpkg_compares_them(one: str, other: str) -> None:
    order = (key(one) > key(other)) - (key(one) < key(other))
    relation = {-1: "lt", 0: "eq", 1: "gt"}[order]
    asked = ["dpkg", "--compare-versions", one, relation, other]
    assert subprocess.run(asked, check=False).returncode == 0
