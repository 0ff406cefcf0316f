from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.show import text
from hardcost.units import visible

FINITE = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)


@settings(deadline=None)
@given(st.text())
def test_plain_text_is_ascii(name: str) -> None:
    assert text.plain(visible(name)).isascii()


def test_our_symbols_have_ascii_spellings() -> None:
    symbols = f"{text.TIMES}2 5 ±1 (4{text.TO}6) a…"
    assert text.plain(symbols) == "x2 5 +/-1 (4..6) a..."


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (3626.0, 0, "3,626"),
        (-1234567.0, 0, "-1,234,567"),
        (0.5, 1, "0.5"),
        (-0.04, 1, "0.0"),
        (math.nan, 0, "n/a"),
        (math.inf, 2, "n/a"),
        (Decimal("12.50"), 2, "12.50"),
    ],
)
def test_numbers_have_thousands_separated(value: float, digits: int, shown: str) -> None:
    assert text.number(value, digits) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(19.0, "+19"), (-153.0, "-153"), (0.0, "0"), (-0.0, "0"), (0.4, "0")]
)
def test_differences_bear_a_sign_unless_zero(value: float, shown: str) -> None:
    assert text.signed_number(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.0, "1"),
        (1.0042, "1.004"),
        (0.95, "0.950"),
        (2.944, "2.94"),
        (10.0, "10.0"),
        (99.96, "100"),
        (1234.4, "1,234"),
        (0.5, "0.50"),
    ],
)
def test_ratios_have_three_digits_and_more_near_one(value: float, shown: str) -> None:
    assert text.ratio(value) == text.TIMES + shown


def test_whole_numbers_need_no_decimals() -> None:
    assert text.decimals([209.0, 362.0, math.nan]) == 0
    assert text.decimals([]) == 0


@pytest.mark.parametrize(
    ("values", "digits"),
    [([317.5, 3.0], 1), ([1.234], 3), ([0.00123], 6), ([12345.5], 1), ([2e9 + 0.5], 0)],
)
def test_other_numbers_have_four_digits(values: list[float], digits: int) -> None:
    assert text.decimals(values) == digits


@settings(deadline=None)
@given(st.lists(FINITE, min_size=1))
def test_decimals_round_to_a_thousandth_of_the_largest(values: list[float]) -> None:
    digits = text.decimals(values)
    largest = max(map(abs, values))
    assert all(
        abs(float(text.round_decimal(value, digits)) - value) <= max(largest / 1000, 1e-9)
        for value in values
    )


def test_written_decimals_keep_what_was_written() -> None:
    assert text.written_decimals([1.87, 69.66, 3.0]) == 2
    assert text.written_decimals([]) == 0


def test_a_point_has_no_interval() -> None:
    assert text.interval(120.0, 120.0, 120.0) == "120"


def test_an_even_interval_is_half_its_width() -> None:
    assert text.interval(120.0, 117.0, 123.0) == "120 ±3"


def test_an_uneven_interval_names_both_ends() -> None:
    assert text.interval(120.0, 118.0, 131.0) == f"120 (118{text.TO}131)"


def test_an_interval_too_narrow_to_show_is_left_out() -> None:
    assert text.interval(120.0, 119.9, 120.1) == "120"


@settings(deadline=None)
@given(FINITE, FINITE, FINITE)
def test_an_interval_starts_with_its_value(value: float, low: float, high: float) -> None:
    assert text.interval(value, low, high, 1).startswith(text.number(value, 1))


@given(st.text(alphabet="-aF =x"))
def test_phrases_joined_are_the_text(words: str) -> None:
    assert " ".join(text.phrases(words)) == words


def test_an_option_and_its_value_are_a_phrase() -> None:
    rule = "-a always,exit -F a0=1 --watch /etc word -w"
    assert text.phrases(rule) == ["-a always,exit", "-F a0=1", "--watch /etc", "word", "-w"]


def test_prose_helpers() -> None:
    assert text.percent(0.0204) == "2.0%"
    assert text.percent(math.nan) == "n/a"
    assert text.shorten("abcdef", 4) == "abc…"
    assert text.shorten("abcd", 4) == "abcd"
