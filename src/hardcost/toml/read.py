"""TOML files of the user's: read and validated, every problem with its location."""

from __future__ import annotations

import difflib
import re
import tomllib
import typing
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from auditrules.files import bounded
from auditrules.model.location import Location
from hardcost.errors import InputError, Problem
from hardcost.toml import locations
from hardcost.toml.locations import deep_key, locate, nearest

LARGEST = 2 << 20
"""Most bytes of a file; a profile of 20,000 audit rules has about 1.5 million."""

_DEEPEST = 32  # levels of tables and arrays; valid files have 5
_TOO_DEEP = f"values are nested too deeply: more than {_DEEPEST} levels"
_MOST_PROBLEMS = 100  # of one file
_LONG_NUMBER = re.compile(r"[0-9_]{4000,}")

_WANTED = {
    "tuple_type": "has to be a list",
    "dict_type": "has to be a table",
    "model_type": "has to be a table",
    "model_attributes_type": "has to be a table",
    "too_short": "is empty",
}
"""What is wrong with values, by the kind of pydantic's error."""

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class TomlFile:
    """A file's values, and the text that they are in; `name` is as the user called it."""

    name: str
    data: dict[str, Any]
    text: str = ""

    @cached_property
    def lines(self) -> dict[locations.KeyPath, int]:
        """The line at which each value begins: sought once one is asked for, as it takes long."""
        return locate(self.text)

    def place(self, *path: str | int) -> Location:
        """Return the location of the value at `path`, or of what it would be part of."""
        return Location(self.name, nearest(self.lines, path))

    def problem(self, message: str, *path: str | int, hint: str | None = None) -> Problem:
        """Return a problem with the value at `path`."""
        return Problem(message, self.place(*path), hint)


def parse(content: bytes, name: str) -> TomlFile:
    """Return a file's values with their locations.

    Raises:
        InputError: It is not UTF-8, not TOML, too large, or nested too deeply.
    """
    if len(content) > LARGEST:
        raise InputError(f"this is larger than {bounded.size(LARGEST)}", place=Location(name))
    try:
        text = content.decode()
        deep = deep_key(text, _DEEPEST)
        if deep is not None:
            raise InputError(_TOO_DEEP, place=Location(name, deep))
        data = _not_deep(tomllib.loads(text))
        return TomlFile(name, data, text)
    except UnicodeDecodeError as error:
        place = Location(name, content.count(b"\n", 0, error.start) + 1)
        raise InputError("this is not UTF-8", place=place, hint="TOML is UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line (\d+), column (\d+)\)$", str(error))
        place = Location(name, int(found[1]), int(found[2])) if found else Location(name)
        message = str(error)[: found.start()] if found else str(error)
        raise InputError(f"this is not TOML: {message}", place=place) from None
    except RecursionError:
        raise InputError(_TOO_DEEP, place=Location(name)) from None
    except ValueError as error:  # Python's own, for a number, date or time
        found = _LONG_NUMBER.search(text)
        line = None if found is None else text.count("\n", 0, found.start()) + 1
        message = str(error) if found is None else "a number is too long"
        raise InputError(f"this is not TOML: {message}", place=Location(name, line)) from None


def _not_deep(data: dict[str, Any]) -> dict[str, Any]:
    """Return a file's values."""
    level: list[Any] = [data]
    for _ in range(_DEEPEST):
        inner = (one.values() if isinstance(one, dict) else one for one in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    if level:
        raise RecursionError
    return data


@dataclass(frozen=True)
class Validated(Generic[_Model]):
    """The valid part of a file: `dropped` are the top-level keys that lost something."""

    model: _Model
    dropped: frozenset[str] = frozenset()


def validated(
    file: TomlFile, model: type[_Model], problems: list[Problem]
) -> Validated[_Model] | None:
    """Return the file's values as `model`; mistakes join `problems`.

    Wrong values are then left out, so that the rest can be checked too. None if the rest would
    not make sense.
    """
    data = deepcopy(file.data)
    dropped: set[str] = set()
    while True:
        try:
            return Validated(model.model_validate(data), frozenset(dropped))
        except ValidationError as error:
            details = error.errors(include_url=False)
        causes = [one for one in _causes(details) if not _was_left_out(file, one)]
        for detail in causes[:_MOST_PROBLEMS]:
            problem = _problem(file, model, detail)
            if problem not in problems:
                problems.append(problem)
        if len(causes) > _MOST_PROBLEMS:
            problems.append(
                Problem(f"and {len(causes) - _MOST_PROBLEMS} more", Location(file.name))
            )
        dropped.update(str(detail["loc"][0]) if detail["loc"] else "" for detail in causes)
        if not all(_leave_out(data, detail) for detail in details):
            return None


def meant(word: str, known: typing.Iterable[str], what: str) -> str:
    """Return a hint for a word that is not one of the `known`: the nearest, or all of them."""
    choices = tuple(known)
    close = difflib.get_close_matches(word, choices, n=1)
    if close:
        return f"did you mean '{close[0]}'?"
    return f"the {what} are {', '.join(choices)}" if choices else f"there are no {what}"


def _problem(file: TomlFile, model: type[BaseModel], detail: ErrorDetails) -> Problem:
    """Return one of pydantic's errors in our words, with its place."""
    path, kind = detail["loc"], detail["type"]
    if kind == "extra_forbidden":
        hint = meant(str(path[-1]), _keys(model, path[:-1]), "keys here")
        return file.problem(f"there is no key '{path[-1]}' here", *path, hint=hint)
    if kind == "missing":
        return file.problem(f"'{path[-1]}' is missing", *path[:-1])
    real = _in_file(file.data, path)
    name = ".".join(str(part) for part in real if isinstance(part, str))
    if kind == "value_error":
        return file.problem(str(detail["ctx"]["error"]), *real)
    message, remedy = _wording(detail, is_whole=len(real) == len(path))
    return file.problem(f"{name} {message}", *real, hint=remedy)


def _wording(detail: ErrorDetails, *, is_whole: bool) -> tuple[str, str | None]:
    """Return the problem of a value, and a hint; `is_whole` if its path is the file's.

    Otherwise the path ends in pydantic's own words: the error concerns a key, or is one of several,
    one for each type that the value could have had.
    """
    kind, is_key = detail["type"], detail["loc"][-1:] == ("[key]",)
    if kind in _WANTED:
        return _WANTED[kind], None
    if kind == "string_pattern_mismatch" and (is_whole or is_key):
        wrong = "is not a valid name" if is_key else "does not have the required form"
        return wrong, f"the form is {detail['ctx']['pattern']}"
    if not is_whole:
        return "has a value of the wrong kind", None
    message = detail["msg"].removeprefix("Input ").replace("should ", "has to ")
    return f"{message[:1].lower()}{message[1:]}", None


def _causes(details: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Return the errors without those of arrays that became empty because of another."""
    within = {detail["loc"][:-1] for detail in details if detail["loc"]}
    return [one for one in details if one["type"] != "too_short" or one["loc"] not in within]


def _was_left_out(file: TomlFile, detail: ErrorDetails) -> bool:
    """Say whether a key is missing because its value was wrong, which is reported already."""
    found = _in_file(file.data, detail["loc"])
    return detail["type"] == "missing" and len(found) == len(detail["loc"])


def _in_file(data: Any, path: tuple[str | int, ...]) -> tuple[str | int, ...]:  # noqa: ANN401
    """Return the part of `path` that is in the file: pydantic adds names of types to it."""
    for length, part in enumerate(path):
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            return path[:length]
    return path


def _leave_out(data: Any, detail: ErrorDetails) -> bool:  # noqa: ANN401  (TOML's values)
    """Remove what is wrong from `data`; say whether that was possible.

    An array keeps all elements or goes as a whole, so that locations stay correct.
    """
    if detail["type"] == "missing":
        return False
    path = _in_file(data, detail["loc"])
    while path:
        holder = data
        for part in path[:-1]:
            holder = holder[part]
        if isinstance(holder, dict):
            del holder[path[-1]]
            return True
        path = path[:-1]
    return False


def _keys(model: type[BaseModel], path: tuple[str | int, ...]) -> tuple[str, ...]:
    """Return the keys that the table at `path` may have."""
    for part in path:
        field = next(
            (
                field
                for name, field in model.model_fields.items()
                if isinstance(part, str) and part in {name, field.alias}
            ),
            None,
        )
        if field is not None:
            model = _inner(field.annotation) or model
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _inner(annotation: Any) -> type[BaseModel] | None:  # noqa: ANN401  (a type's annotation)
    """Return the model within an annotation such as `tuple[Axis, ...]` or `Axis | None`."""
    if isinstance(annotation, type):
        return annotation if issubclass(annotation, BaseModel) else None
    return next(filter(None, map(_inner, typing.get_args(annotation))), None)


def flattened(table: dict[str, object]) -> dict[str, object]:
    """Return the values of nested tables by dotted keys."""
    flat: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, dict) and value:
            flat.update({f"{key}.{rest}": inner for rest, inner in flattened(value).items()})
        else:
            flat[key] = value
    return flat


def names_in(folder: Path) -> tuple[str, ...]:
    """Return the names of the TOML files in `folder`, without their ending, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def titles_in(folder: Path) -> dict[str, str]:
    """Return the title of each TOML file in `folder` by its name."""
    found: dict[str, str] = {}
    for name in names_in(folder):
        file = parse((folder / f"{name}.toml").read_bytes(), f"{name}.toml")
        found[name] = str(file.data.get("title", ""))
    return found
