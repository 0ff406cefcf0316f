from __future__ import annotations

import tracemalloc

import pytest
from pydantic import BaseModel, ConfigDict, StrictInt

from hardcost.errors import InputError, Problem
from hardcost.toml.read import TomlFile, meant, parse, validated


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    count: StrictInt | str = 0


class Outer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: str = ""
    numbers: tuple[StrictInt, ...] = ()
    part: tuple[Inner, ...] = ()
    one: Inner | None = None


def problems_of(text: str) -> tuple[list[tuple[int | None, str]], Outer | None]:
    problems: list[Problem] = []
    found = validated(parse(text.encode(), "f.toml"), Outer, problems)
    listed = [
        (problem.place.line if problem.place else None, problem.message) for problem in problems
    ]
    return listed, found.model if found else None


def test_what_is_right_is_kept_where_something_else_is_wrong() -> None:
    listed, model = problems_of('title = "t"\nnumbers = [\n 1,\n "x",\n]\ncolour = 1\n')
    assert listed == [
        (4, "numbers has to be a valid integer"),
        (6, "there is no key 'colour' here"),
    ]
    assert model == Outer(title="t")


def test_an_unknown_key_deep_inside_gets_a_hint_from_its_own_table() -> None:
    problems: list[Problem] = []
    text = '[[part]]\nname = "a"\ncuont = 1\n[one]\nname = "b"\nnme = 2\n'
    validated(parse(text.encode(), "f.toml"), Outer, problems)
    assert [(str(problem.place), problem.hint) for problem in problems] == [
        ("f.toml:3", "did you mean 'count'?"),
        ("f.toml:6", "did you mean 'name'?"),
    ]


def test_what_is_missing_is_reported_at_its_table() -> None:
    listed, model = problems_of('title = "t"\n\n[[part]]\ncount = 1\n')
    assert listed == [(3, "'name' is missing")]
    assert model is None


def test_a_wrong_type_within_a_choice_of_types_is_reported() -> None:
    listed, _ = problems_of('[one]\nname = "a"\ncount = 1.5\n')
    assert listed == [(3, "one.count has a value of the wrong kind")]


def test_what_is_not_toml_is_reported_at_its_line_and_column() -> None:
    with pytest.raises(InputError) as caught:
        parse(b"a = 1\nb = \n", "f.toml")
    (problem,) = caught.value.problems
    assert (str(problem.place), problem.message) == (
        "f.toml:2:5",
        "this is not TOML: Invalid value",
    )


def test_what_is_not_utf8_is_reported_at_its_line() -> None:
    with pytest.raises(InputError) as caught:
        parse(b"a = 1\n\n# \xff\n", "f.toml")
    assert str(caught.value.problems[0].place) == "f.toml:3"


def test_values_nested_without_end_are_no_crash() -> None:
    with pytest.raises(InputError, match="nested too deep"):
        parse(b"a = " + b"[" * 100_000, "f.toml")


def test_a_hint_is_the_nearest_word_or_all_of_them() -> None:
    assert meant("opne", ["open", "stat"], "calls") == "did you mean 'open'?"
    assert meant("zzzz", ["open", "stat"], "calls") == "the calls are open, stat"
    assert meant("zzzz", [], "calls") == "there are no calls"


def test_a_place_is_that_of_the_value() -> None:
    file = TomlFile("f.toml", {"a": [1]}, "\n\na = [1]\n")
    assert str(file.place("a", 0)) == "f.toml:3"
    assert str(file.place("b")) == "f.toml"


DEEP = ".".join("k" * 500)
QUOTED = '"k . k"' + " .\t'a.b'" * 40


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"a = 1\nb = {'9' * 5000}\n",
            "f.toml:2: this is not TOML: a number is too long",
        ),
        (f"[{DEEP}]\n", "f.toml:1: values are nested too deeply: more than 32 levels"),
        (
            f"a = 1\nb = {{ {QUOTED} = 1 }}\n",
            "f.toml:2: values are nested too deeply: more than 32 levels",
        ),
        (f"{DEEP} = 1\n", "f.toml:1: values are nested too deeply: more than 32 levels"),
        (
            f"a = {'{a=' * 200}1{'}' * 200}\n",
            "f.toml: values are nested too deeply: more than 32 levels",
        ),
        (
            f"a = {'[' * 5000}{']' * 5000}\n",
            "f.toml: values are nested too deeply: more than 32 levels",
        ),
        (f"a = '{'x' * (2 << 20)}'\n", "f.toml: this is larger than 2 MiB"),
    ],
)
def test_what_is_too_much_for_a_file_is_reported(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse(text.encode(), "f.toml")
    (problem,) = caught.value.problems
    assert f"{problem.place}: {problem.message}" == message


def test_a_key_of_very_many_parts_takes_little_memory() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="nested too deeply"):
            parse(b".".join([b"a"] * 20_000) + b" = 1\n", "f.toml")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("quote", ['"', "'", '"""', "'''"])
def test_dots_in_strings_and_comments_are_no_keys(quote: str) -> None:
    text = f"a = {quote}{DEEP}{quote} # {DEEP}\n'{DEEP}' = 1.5\n"
    assert parse(text.encode(), "f.toml").data == {"a": DEEP, DEEP: 1.5}


def test_of_very_many_mistakes_the_first_are_reported_and_the_others_counted() -> None:
    listed, _ = problems_of("".join(f"k{number} = 1\n" for number in range(20_000)))
    assert len(listed) == 101
    assert listed[0] == (1, "there is no key 'k0' here")
    assert listed[-1] == (None, "and 19900 more")
