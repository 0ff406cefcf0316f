"""Values that are printed as JSON as they are.

A value is a frozen dataclass, and its fields in their order are the keys of its JSON. Pydantic
reads the annotations below: for writing, for reading, and for the published schema.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_core import CoreSchema, core_schema

from auditrules.model.location import Location

_Any = TypeVar("_Any")

VERSION: Literal[1] = 1
"""The version of documents, where a kind does not say another.

It grows when a key changes its meaning or goes; new keys don't.
"""


def _finite(value: float) -> float | None:
    """Return a float that JSON can hold, None for others; adding 0 turns -0 into 0."""
    return float(value) + 0.0 if math.isfinite(value) else None


def _not_null(value: object) -> object:
    return math.nan if value is None else value


def _is_empty(value: object) -> bool:
    return not value


def _is_unknown(value: object) -> bool:
    return value is None


Number = Annotated[
    float, BeforeValidator(_not_null), PlainSerializer(_finite, return_type=float | None)
]
"""A number that is null in JSON where it is infinite or not a number; null is read as NaN."""

Internal = Annotated[_Any, Field(exclude=True)]
"""Marks a field that the store keeps and JSON leaves out."""

IfAny = Annotated[_Any, Field(exclude_if=_is_empty)]
"""Marks a field that JSON leaves out where it is empty, 0 or None."""

IfKnown = Annotated[_Any, Field(exclude_if=_is_unknown)]
"""Marks a field that JSON leaves out where it is None."""


@dataclass(frozen=True)
class AsText:
    """A value whose JSON is text, which `str` makes and `read` reads."""

    read: Callable[[str], Any]

    def __get_pydantic_core_schema__(self, *_: object) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._value_of,
            serialization=core_schema.plain_serializer_function_ser_schema(
                str, return_schema=core_schema.str_schema()
            ),
        )

    def _value_of(self, value: object) -> object:
        if value is None or isinstance(value, int | float | list | dict):
            raise ValueError("it is no text")
        return self.read(value) if isinstance(value, str) else value


Located = Annotated[Location, AsText(Location.of)]
"""A location as `FILE:LINE`."""


def _none_if_empty(value: object) -> object:
    return None if value == "" else value


def _place_text(place: Location | None) -> str:
    return "" if place is None else str(place)


def _split(value: object) -> object:
    if isinstance(value, str):
        return value.split(", ") if value else ()
    return value


def _places_text(places: tuple[Location, ...]) -> str:
    return ", ".join(map(str, places))


Place = Annotated[Located | None, BeforeValidator(_none_if_empty), PlainSerializer(_place_text)]
"""The same, "" where no file says it."""

Words = Annotated[
    tuple[str, ...], BeforeValidator(_split), PlainSerializer(", ".join, return_type=str)
]
"""Names as text, with commas between."""

Places = Annotated[
    tuple[Located, ...],
    BeforeValidator(_split),
    PlainSerializer(_places_text),
]
"""Locations, with commas between."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """The begin of each JSON document: the version of its format, and its kind."""

    version: Literal[1] = VERSION
    kind: str
