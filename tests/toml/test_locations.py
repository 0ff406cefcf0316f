from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.toml.locations import KeyPath, locate, nearest

TEXT = '''# a comment = [1]
title = "x"  # = {
"quoted key" = 'a # b'
long = """
[not.a.table]
a = 1 \\""" still
"""
raw = \'\'\'
x = [\'\'\'
list = [
    1, # one
    [2,
     3],
    { a = 1, b.c = "}" },

    1979-05-27 07:32:00,
]

[table]
a.b = 1
a.c = 2

[table.inner]
x = -1.5e3

[[array]]
name = "first"

[[array]]
name = "second"
[array.sub]
y = true
[[array.more]]
z = 1
[[array.more]]
z = 2
'''


def test_each_value_is_found_at_its_line() -> None:
    tomllib.loads(TEXT)
    lines = locate(TEXT)
    expected: dict[KeyPath, int] = {
        ("title",): 2,
        ("quoted key",): 3,
        ("long",): 4,
        ("raw",): 8,
        ("list", 0): 11,
        ("list", 1): 12,
        ("list", 1, 1): 13,
        ("list", 2): 14,
        ("list", 2, "b", "c"): 14,
        ("list", 3): 16,
        ("table",): 19,
        ("table", "a", "b"): 20,
        ("table", "a", "c"): 21,
        ("table", "inner", "x"): 24,
        ("array",): 26,
        ("array", 0, "name"): 27,
        ("array", 1): 29,
        ("array", 1, "sub", "y"): 32,
        ("array", 1, "more", 0): 33,
        ("array", 1, "more", 1, "z"): 36,
    }
    assert {path: lines[path] for path in expected} == expected


def test_what_has_no_place_is_where_it_would_be_part_of() -> None:
    lines = locate("[table]\nx = 1\n")
    assert nearest(lines, ("table", "y", 3)) == 1
    assert nearest(lines, ("nowhere",)) is None


def test_a_dotted_key_is_found_by_its_joined_name() -> None:
    assert nearest(locate("[sysctl]\n\nkernel.x = 1\n"), ("sysctl", "kernel.x")) == 3


def written(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, dict):
        inner = ", ".join(f"{json.dumps(key)} = {written(item)}" for key, item in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return "[" + "".join(f"\n  {written(item)}, # ]" for item in value) + "\n]"
    return json.dumps(value)


def paths(value: Any, path: KeyPath = ()) -> set[KeyPath]:  # noqa: ANN401
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    found = {path} if path else set()
    return found.union(*(paths(item, (*path, key)) for key, item in items))


def has_list(value: Any) -> bool:  # noqa: ANN401
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, list) or (isinstance(value, dict) and any(map(has_list, inner)))


scalars = st.one_of(st.booleans(), st.integers(-99, 99), st.text("ab\\\"'#=[]{},. é", max_size=6))
keys = st.text("ab.\"'# é", max_size=3)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        # A new line within an inline table is no TOML 1.0.
        st.dictionaries(keys, inner.filter(lambda v: not has_list(v)), max_size=3),
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(keys, values, max_size=4))
def test_every_value_of_any_file_has_a_place(data: dict[str, Any]) -> None:
    text = "".join(f"\n{json.dumps(key)} = {written(value)}\n" for key, value in data.items())
    assert tomllib.loads(text) == data
    lines = locate(text)
    assert paths(data) == set(lines)
    rows = text.split("\n")
    for key in data:
        assert rows[lines[key,] - 1].startswith(f"{json.dumps(key)} = ")
