"""What JSON has as text is made by `str`, and read as what it was made of."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from auditrules.model.location import Location
from hardcost.model.document import Place, Places, Words
from hardcost.model.role import Role, Without
from hardcost.model.workload import MetricId, Workload


@dataclass(frozen=True)
class _Named:
    role: Role
    workload: Workload
    weights: dict[MetricId, float]
    metric: MetricId | None = None
    place: Place = None
    places: Places = ()
    words: Words = ()


_ADAPTER = TypeAdapter(_Named)
_DD = Workload("dd", (("size", "1"),))
_WHOLE = _Named(
    Without((0, 1)),
    _DD,
    {MetricId("wall", _DD): 0.5},
    MetricId("open"),
    Location("a.rules", 3),
    (Location("a.rules", 3), Location("b.rules", 1)),
    ("openat", "close"),
)
_TEXT = {
    "role": "without:0-1",
    "workload": "dd size=1",
    "weights": {"dd size=1 wall": 0.5},
    "metric": "open",
    "place": "a.rules:3",
    "places": "a.rules:3, b.rules:1",
    "words": "openat, close",
}


def test_a_value_is_text_in_json_and_read_back() -> None:
    assert _ADAPTER.dump_python(_WHOLE) == _TEXT
    assert _ADAPTER.validate_python(_TEXT) == _WHOLE


def test_what_is_not_known_is_empty_text() -> None:
    least = _Named(Without((1,)), _DD, {})
    text = _ADAPTER.dump_python(least)
    assert (text["metric"], text["place"], text["places"], text["words"]) == (None, "", "", "")
    assert _ADAPTER.validate_python(text) == least


@pytest.mark.parametrize("wrong", [None, 3, [], {}, True])
def test_what_is_no_text_is_refused(wrong: object) -> None:
    with pytest.raises(ValidationError, match="it is no text"):
        _ADAPTER.validate_python(_TEXT | {"role": wrong})


def test_the_schema_says_text() -> None:
    properties = _ADAPTER.json_schema(mode="serialization")["properties"]
    assert {properties[key]["type"] for key in _TEXT if key not in {"weights", "metric"}} == {
        "string"
    }


@given(st.text())
def test_any_text_is_a_location_of_that_text(text: str) -> None:
    assert str(Location.of(text)) == text


def test_numbers_behind_the_last_colons_are_line_and_column() -> None:
    assert Location.of("a:b:3") == Location("a:b", 3)
    assert Location.of("a:3:7") == Location("a", 3, 7)
    assert Location.of("3") == Location("3")
    assert Location.of("a:03") == Location("a:03")
