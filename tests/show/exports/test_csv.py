"""No text in CSV acts in a spreadsheet; numbers stay numbers."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.show.exports.csv import csv_text, mark_formula
from hardcost.units import visible
from tests.show.exports.gates import ANY_TEXT, HOSTILE

ACTIVE = "=+-@＝＋－＠\t\r\n"  # noqa: RUF001  (wide forms act in some spreadsheets, too)
TEXTS = st.one_of(HOSTILE, st.builds(str.__add__, st.sampled_from([*ACTIVE, " =", "'"]), HOSTILE))
NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False), st.none())


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


@ANY_TEXT
@given(text=TEXTS, number=NUMBERS)
def test_no_text_acts_and_every_number_is_read_back(text: str, number: float | None) -> None:
    for raw in (False, True):
        found = csv_text(("text", "number"), [(text, number)], raw=raw)
        (_, (cell, digits)) = read(found)
        assert digits == "" if number is None else float(digits) == float(number)
        own = visible(text)
        if raw:
            assert cell == own
        else:
            assert not cell.lstrip(" ").startswith(tuple(ACTIVE))
            assert cell.removeprefix("'") == own


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@a", "  =1", "\t=1", "＝1", "'a"])  # noqa: RUF001
def test_what_acts_is_marked(text: str) -> None:
    assert mark_formula(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "open", " 1", "-".join("ab")])
def test_other_texts_are_as_they_are(text: str) -> None:
    assert mark_formula(text) == text


def test_a_negative_number_is_no_text() -> None:
    assert csv_text(("a", "b"), [(-1.5, "-1.5")]) == "a,b\n-1.5,'-1.5\n"
