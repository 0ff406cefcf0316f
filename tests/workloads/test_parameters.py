"""Parameters are read from words, all errors at once, each with a remedy."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import Field

from hardcost.errors import InputError
from hardcost.workloads.names import all_workloads
from hardcost.workloads.parameters import (
    DISTINCT,
    JOINED,
    ONCE,
    WorkloadParameters,
    one_of,
    parameter_meanings,
    read,
    whole_number,
)

_Call = Annotated[str, one_of("calls", lambda: ["null", "open"])]


class Parameters(WorkloadParameters):
    size: Annotated[int, whole_number(8, words={"all": 9})] = Field(1, description="how much")
    calls: Annotated[tuple[_Call, ...], JOINED, ONCE] = ("null",)
    numbers: Annotated[tuple[Annotated[int, whole_number(5)], ...], JOINED, DISTINCT] = (1,)
    least: Annotated[int | None, whole_number(8, least=4)] = None


class Named(WorkloadParameters):
    file: str = Field(description="the program")


def refused(**words: str) -> list[tuple[str, str | None]]:
    with pytest.raises(InputError) as error:
        read("w", Parameters, words)
    return [(one.message, one.hint) for one in error.value.problems]


def test_words_become_values_of_their_types() -> None:
    found = read("w", Parameters, {"size": "007", "calls": "open+null", "numbers": "5+1+5"})
    assert (found.size, found.calls, found.numbers, found.least) == (
        7,
        ("open", "null"),
        (5, 1),
        None,
    )
    assert read("w", Parameters, {"size": "all"}).size == 9
    assert read("w", Parameters, {}) == Parameters()


@pytest.mark.parametrize("word", ["0", "10", "-1", "1.0", "", "x", "²", "1e1", "9" * 5000])
def test_a_number_that_cannot_be_is_an_error_with_its_range(word: str) -> None:
    ((message, hint),) = refused(size=word)
    assert message.startswith(f"the workload w can't take '{word[:60]}")
    assert len(message) < 120
    assert hint == "it is a number from 1 to 8, or all"


def test_all_that_is_wrong_is_said_with_what_was_meant() -> None:
    assert refused(calls="nul+open+x", numbers="6", sizes="1", least="3") == [
        (
            "the workload w can't take 'nul' for calls",
            "did you mean 'null'? the calls are null, open",
        ),
        ("the workload w can't take 'x' for calls", "the calls are null, open"),
        ("the workload w can't take '6' for numbers", "it is a number from 1 to 5"),
        ("the workload w can't take '3' for least", "it is a number from 4 to 8"),
        (
            "the workload w has no parameter 'sizes'",
            "did you mean 'size'? the parameters are size, calls, numbers, least",
        ),
    ]


def test_what_is_measured_once_stands_once() -> None:
    ((message, hint),) = refused(calls="null+open+null")
    assert message == "the workload w can't take 'null' twice for calls"
    assert hint == "it is measured once: leave one of them out"


def test_what_has_to_be_given_is_said_with_its_meaning() -> None:
    with pytest.raises(InputError, match="the workload w needs the parameter file") as error:
        read("w", Named, {})
    assert error.value.problems[0].hint == "file=… is the program"


@pytest.mark.parametrize("values", [{"size": 10}, {"calls": ("nul",)}, {"numbers": (0,)}])
def test_values_made_in_the_program_keep_the_bounds_too(values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="refused"):
        Parameters(**values)


@pytest.mark.parametrize("name", all_workloads())
def test_each_parameter_of_a_workload_has_a_meaning(name: str) -> None:
    model = all_workloads()[name].parameters
    assert model.__doc__
    assert all(parameter_meanings(model).values())
    defaults = [field for field in model.model_fields.values() if not field.is_required()]
    for field in defaults:
        default = field.get_default(call_default_factory=True, validated_data={})
        assert default is None or "default" in (field.description or "") or default == ()
