from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.supply.kernels.kconfig_expressions import holds, names, parts

CONFIG = {"A": "y", "B": "n", "M": "m", "N": "12", "S": "text"}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("", True),
        ("A", True),
        ("B", False),
        ("UNKNOWN", False),
        ("M", True),
        ("!B", True),
        ("!A || B", False),
        ("A && !B", True),
        ("B || A && B", False),
        ("(B || A) && A", True),
        ("!(A && M)", False),
        ("A = y", True),
        ("M = y", False),
        ("M != n", True),
        ('S = "text"', True),
        ("N >= 12 && N < 13", True),
        ("N > 12", False),
        ("B && $(cc-option,-x)", False),
        ("$(success,true) || A", True),
    ],
)
def test_an_expression_is_worked_out(expression: str, expected: bool) -> None:  # noqa: FBT001
    assert holds(expression, CONFIG) is expected


@pytest.mark.parametrize(
    "open_ended", ["$(cc-option,-x)", "!$(success,a (b) c)", "A &&", ")", "&&"]
)
def test_what_cannot_be_worked_out_is_taken_to_hold(open_ended: str) -> None:
    assert holds(open_ended, CONFIG)


def test_an_expression_is_parted_at_the_top_alone() -> None:
    assert parts("A && (B && !C) && D=y || E") == ["A", "( B && !C )", "D = y || E"]
    assert names(["A && (B && !C)", "N = 12"]) == ["A", "B", "C", "N", "12"]


_atoms = st.sampled_from(["A", "B", "!A", "!B", "M"])


@given(
    st.recursive(
        _atoms,
        lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||"]), inner),
    )
)
def test_an_expression_means_what_python_takes_it_to_mean(expression: str) -> None:
    python = expression.replace("&&", "and").replace("||", "or").replace("!", "not ")
    assert holds(expression, CONFIG) == eval(python, {"A": True, "B": False, "M": True})  # noqa: S307
