from __future__ import annotations

import pytest

from hardcost.errors import InputError
from hardcost.report.published import published, read

NAME = "audit-rule-scaling-2021"


def test_the_scaling_of_audit_rules_is_known() -> None:
    before, after, *_ = published(NAME).series
    assert before.metrics == ("null", "read", "write", "stat", "fstat", "open")
    assert list(before.rows) == [f"rules={n}" for n in (0, 10, 20, 30, 40, 50, 100, 160)]
    assert before.rows["rules=160"]["open"] == 155.40
    assert before.ratio("rules=160", "null") == pytest.approx(5.50 / 1.87)
    assert after.ratio("rules=160", "null") == pytest.approx(1.92 / 1.81)
    assert before.unit == after.unit == "ms per 1000 calls"


def test_a_row_names_the_configuration_of_ours_beside_it() -> None:
    before, after, *_ = published(NAME).series
    assert before.configuration("rules=10") == "rules=10"
    assert after.configuration("rules=10") == "kernel=flat rules=10"


def test_an_unknown_name_is_answered_with_those_known() -> None:
    with pytest.raises(InputError) as caught:
        published("nonsense")
    assert caught.value.problems[0].hint == f"there are: {NAME}, kconfig-hardening-2020"


def test_every_fault_of_a_file_is_reported() -> None:
    text = """
    title = "t"
    source = "s"
    typo = 1
    [[series]]
    name = "n"
    unit = "ms"
    baseline = "a"
    rows = { a = { x = 0 } }
    """
    with pytest.raises(InputError) as caught:
        read(text, "f.toml")
    messages = [problem.message for problem in caught.value.problems]
    assert any(message.startswith("workload: ") for message in messages)
    assert any(message.startswith("typo: ") for message in messages)
    assert any(message.startswith("series.0.rows.a.x: ") for message in messages)
    assert str(caught.value.problems[0].place) == "f.toml"


@pytest.mark.parametrize(
    ("rows", "fault"),
    [("{ b = { x = 1 } }", "baseline"), ("{ a = { x = 1 }, b = { y = 1 } }", "other metrics")],
)
def test_a_series_is_complete(rows: str, fault: str) -> None:
    text = f"""
    title = "t"
    source = "s"
    workload = "w"
    [[series]]
    name = "n"
    unit = "ms"
    baseline = "a"
    rows = {rows}
    """
    with pytest.raises(InputError, match=fault):
        read(text, "f.toml")


def test_what_is_not_toml_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match="not TOML"):
        read("=", "f.toml")
