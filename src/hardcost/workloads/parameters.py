"""Parameters of a workload: words of the form `key=value`, read into values of their types.

A workload's file holds a class `Parameters`, whose fields are its parameters: a field's type says
which words it takes, its description what it means, its default what goes without it.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from hardcost.errors import InputError, Problem
from hardcost.instruments.instrument import Instrument

_LONGEST = 18  # digits of a number
_SHOWN = 60  # characters of a wrong value that an error repeats
_REFUSED = "refused"  # the type of an error that a validator here raised


class WorkloadParameters(BaseModel):
    """The parameters of a workload: base of each workload's `Parameters`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def check(self, instrument: Instrument) -> None:
        """Check what types can't: that values fit the instrument, and the files that they name.

        Raises:
            InputError: One is not for this instrument, or a file is not as it should be.
        """


Asked = TypeVar("Asked", bound=WorkloadParameters)


def read(workload: str, model: type[Asked], words: Mapping[str, str]) -> Asked:
    """Return the parameters that `words` give to a workload.

    Raises:
        InputError: There is no parameter of a name, one is missing, or one has a wrong value; the
            error holds all that is wrong.
    """
    try:
        return model.model_validate(dict(words))
    except ValidationError as error:
        details = error.errors(include_url=False)
    problems = [_problem(workload, model, words, detail) for detail in details]
    raise InputError.of(tuple(dict.fromkeys(problems)))


def parameter_meanings(model: type[WorkloadParameters]) -> dict[str, str]:
    """Return what each parameter means, by its name."""
    return {name: field.description or "" for name, field in model.model_fields.items()}


def whole_number(
    most: int, least: int = 1, words: Mapping[str, int | str] | None = None
) -> BeforeValidator:
    """Return the validator of a whole number from `least` to `most`, written in digits.

    `words` may be given instead; each has the value that it stands for.
    """
    also = words or {}
    allowed = f"it is a number from {least} to {most}" + "".join(f", or {word}" for word in also)

    def number(value: object) -> object:
        if isinstance(value, str) and value in also:
            return also[value]
        found = int(value) if isinstance(value, str) and _is_number(value) else value
        if not isinstance(found, int) or not least <= found <= most:
            raise refusal(str(value), allowed)
        return found

    return BeforeValidator(number)


def one_of(what: str, known: Callable[[], Iterable[str]]) -> BeforeValidator:
    """Return the validator of one of the `known` names; `what` calls them, such as `calls`."""

    def name(value: str) -> str:
        names = tuple(known())
        if value not in names:
            raise refusal(value, nearest_hint(value, what, names))
        return value

    return BeforeValidator(name)


def _split(value: object) -> object:
    return tuple(value.split("+")) if isinstance(value, str) else value


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    twice = next((one for at, one in enumerate(values) if one in values[:at]), None)
    if twice is not None:
        hint = "it is measured once: leave one of them out"
        raise refusal(str(twice), hint, "can't take '{word}' twice for {key}")
    return values


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


JOINED = BeforeValidator(_split)
"""Several values, joined by `+`."""

ONCE = AfterValidator(_once)
"""Of which none stands twice."""

DISTINCT = AfterValidator(_distinct)
"""Of which those that stand twice are taken once."""


def refusal(
    word: str, hint: str, message: str = "can't take '{word}' for {key}", key: str | None = None
) -> PydanticCustomError:
    """Return the error of a validator that refuses `word`.

    `message` goes on behind the workload's name. A validator of the whole model gives the `key`.
    """
    return PydanticCustomError(
        _REFUSED, "refused", {"word": word, "hint": hint, "message": message, "key": key}
    )


def nearest_hint(word: str, what: str, known: Iterable[str]) -> str:
    """Return a hint for a word that is none of the `known` ones: the nearest, and all of them."""
    names = tuple(known)
    close = difflib.get_close_matches(word, names, n=1)
    guess = f"did you mean '{close[0]}'? " if close else ""
    return f"{guess}the {what} are {', '.join(names)}"


def _problem(
    workload: str, model: type[WorkloadParameters], words: Mapping[str, str], detail: ErrorDetails
) -> Problem:
    """Return one of pydantic's errors in our words."""
    key = str(detail["loc"][0]) if detail["loc"] else ""
    of = f"the workload {workload}"
    if detail["type"] == "extra_forbidden":
        hint = nearest_hint(key, "parameters", model.model_fields)
        return Problem(f"{of} has no parameter '{key}'", hint=hint)
    if detail["type"] == "missing":
        hint = f"{key}=… is {model.model_fields[key].description}"
        return Problem(f"{of} needs the parameter {key}", hint=hint)
    if detail["type"] != _REFUSED:
        return Problem(f"{of} can't take '{_short(words[key])}' for {key}", hint=detail["msg"])
    said = detail["ctx"]
    message = said["message"].format(word=_short(said["word"]), key=said["key"] or key)
    return Problem(f"{of} {message}", hint=said["hint"])


def _short(word: str) -> str:
    return word if len(word) <= _SHOWN else f"{word[:_SHOWN]}…"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST
