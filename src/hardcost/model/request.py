"""A request of the library: the value of each field is checked when the request is made."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from inspect import isclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import Field, InstanceOf, TypeAdapter, ValidationError

from hardcost.errors import InputError, RequestProblem
from hardcost.units import join_in_prose

_LONGEST = 60  # characters of a value that a message repeats

Count = Annotated[int, Field(ge=1)]
"""How many, at least one."""

Share = Annotated[float, Field(gt=0, allow_inf_nan=False)]
"""A share above 0, such as 0.01 for 1 %."""


class CheckedRequest:
    """The base of the requests of all calls, and of the values in them."""

    def __post_init__(self) -> None:
        """Check that each field has a value of its type.

        Raises:
            InputError: One has not; all mistakes are reported at once.
        """
        problems = tuple(self._type_problems())
        if problems:
            raise InputError.of(problems)

    @classmethod
    def expect(cls, value: object) -> None:
        """Check that a call was given a request of this class.

        Raises:
            InputError: It was given something else.
        """
        if not isinstance(value, cls):
            name = cls.__name__
            raise InputError(
                f"the call takes a {name}, not {_quote_value(value)}",
                hint=f"hardcost.{name}(…) makes one",
            )

    def _type_problems(self) -> Iterator[RequestProblem]:
        own: Any = type(self)
        for name, (adapter, choices, kind) in _types(own).items():
            value = getattr(self, name)
            try:
                adapter.validate_python(value, strict=True)
            except ValidationError as error:
                said = (
                    f"there is no {_quote_value(value)}"
                    if choices
                    else f"{_quote_value(value)} is not taken"
                )
                hint = f"there are {join_in_prose(choices)}" if choices else _remedy(error, kind)
                yield RequestProblem(f"`{name}`: {said}", hint=hint)


def _quote_value(value: object) -> str:
    """Return a value as a message repeats it."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _remedy(error: ValidationError, kind: object) -> str:
    """Return the bound that a number has to keep, or the type that a field takes."""
    (first, *others) = error.errors(include_url=False)
    if others or first["type"].partition("_")[0] not in {"int", "float", "greater", "finite"}:
        return f"it takes {kind}"
    return first["msg"].replace("Input", "it", 1)


@cache
def _types(request: type[Any]) -> dict[str, tuple[TypeAdapter[Any], tuple[str, ...], object]]:
    """Return for each field of a request its check, the texts that it allows, and its type."""
    hints = typing.get_type_hints(request, include_extras=True)
    return {
        one.name: (
            TypeAdapter(_by_instance(hints[one.name])),
            _choices(hints[one.name]),
            one.type,
        )
        for one in fields(request)
        if one.init
    }


def _by_instance(hint: object) -> Any:  # noqa: ANN401  (a type that pydantic takes)
    """Return a type that accepts our own values unread, since they were checked when made."""
    whole: Any = InstanceOf
    generic: dict[object, Any] = {Union: Union, UnionType: Union, tuple: tuple}
    origin = get_origin(hint)
    if origin is Annotated:
        return hint
    if origin in generic:
        parts = tuple(one if one is Ellipsis else _by_instance(one) for one in get_args(hint))
        return generic[origin][parts]
    if isclass(origin):
        return whole[origin]
    ours = isclass(hint) and hint.__module__.startswith(__name__.partition(".")[0])
    return whole[hint] if ours else hint


def _choices(hint: object) -> tuple[str, ...]:
    """Return the texts of which a type takes one."""
    if get_origin(hint) is Literal:
        return tuple(get_args(hint))
    if get_origin(hint) not in {Union, UnionType}:
        return ()
    return tuple(text for one in get_args(hint) for text in _choices(one))
