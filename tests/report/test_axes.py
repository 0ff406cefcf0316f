from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.axes import numeric_axis

if TYPE_CHECKING:
    from hardcost.analysis.finding import Finding


def test_the_number_of_rules_is_the_axis_of_audit_rules(run: Finding) -> None:
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
    assert axis.line_of("kernel=flat rules=10") == "kernel=flat rules=N"
    assert axis.line_of("audit-off") == ""


def test_two_levels_make_no_axis() -> None:
    assert numeric_axis({"a": (("n", "1"),), "b": (("n", "2"),)}) is None


def test_words_make_no_axis() -> None:
    assert numeric_axis({word: (("mode", word),) for word in ("off", "on", "nan", "inf")}) is None


def test_lines_of_the_same_pattern_are_distinguished_by_their_levels() -> None:
    levels = {
        f"{kind} n={n}": (("kind", kind), ("n", str(n))) for kind in "ab" for n in range(3)
    } | {f"n={n}": (("kind", "a"), ("n", str(n))) for n in range(3, 6)}
    axis = numeric_axis(levels)
    assert axis is not None
    assert list(axis.lines) == ["a n=N", "b n=N"]


def test_a_level_left_out_of_names_is_put_in() -> None:
    axis = numeric_axis({f"c{n}": (("copies", str(n)),) for n in (4, 1, 2)})
    assert axis is not None
    assert axis.lines == {"copies=N": (("c1", 1), ("c2", 2), ("c4", 4))}
