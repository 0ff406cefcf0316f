from __future__ import annotations

import pytest

from hardcost.analysis.study.axes import numeric_axis
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import AxisLevel, role_of
from tests.show.conftest import make_run


@pytest.fixture(scope="module")
def run() -> StudyFinding:
    return make_run()


def test_the_number_of_rules_is_the_axis_of_audit_rules(run: StudyFinding) -> None:
    axis = numeric_axis(run.levels)
    assert axis is not None
    assert axis.name == "rules"
    assert list(axis.lines) == [
        "rules=N",
        "rules=N catch-all",
        "kernel=flat rules=N",
        "kernel=flat rules=N catch-all",
    ]
    assert [x for _, x in axis.lines["rules=N"]] == [0, 1, 10, 20, 30, 40, 50, 100, 160]
    assert axis.line_of(role_of("kernel=flat rules=10")) == "kernel=flat rules=N"
    assert axis.line_of(role_of("audit-off")) == ""


def test_two_levels_make_no_axis() -> None:
    assert (
        numeric_axis({role_of("a"): (AxisLevel("n", "1"),), role_of("b"): (AxisLevel("n", "2"),)})
        is None
    )


def test_words_make_no_axis() -> None:
    assert (
        numeric_axis(
            {role_of(word): (AxisLevel("mode", word),) for word in ("off", "on", "nan", "inf")}
        )
        is None
    )


def test_a_line_is_named_as_its_points_are_but_for_the_level() -> None:
    def point(kind: str, number: int) -> tuple[AxisLevel, ...]:
        shown = "" if number == 0 else f"n={number}"
        return AxisLevel("kind", kind, kind if kind == "b" else ""), AxisLevel(
            "n", str(number), shown
        )

    axis = numeric_axis({role_of(f"{kind}{n}"): point(kind, n) for kind in "ab" for n in range(3)})
    assert axis is not None
    assert list(axis.lines) == ["n=N", "b n=N"]


def test_what_an_older_version_saved_names_each_level() -> None:
    levels = {role_of(f"{n}"): (AxisLevel("kind", "a"), AxisLevel("n", str(n))) for n in range(3)}
    axis = numeric_axis(levels)
    assert axis is not None
    assert list(axis.lines) == ["kind=a n=N"]


def test_lines_of_the_same_pattern_are_distinguished_by_their_levels() -> None:
    levels = {
        role_of(f"{kind} n={n}"): (AxisLevel("kind", kind, kind), AxisLevel("n", str(n)))
        for kind in "ab"
        for n in range(3)
    }
    axis = numeric_axis(levels)
    assert axis is not None
    assert list(axis.lines) == ["a n=N", "b n=N"]


def test_a_level_left_out_of_names_is_put_in() -> None:
    axis = numeric_axis({role_of(f"c{n}"): (AxisLevel("copies", str(n), ""),) for n in (4, 1, 2)})
    assert axis is not None
    assert axis.lines == {"copies=N": tuple((role_of(f"c{n}"), n) for n in (1, 2, 4))}
