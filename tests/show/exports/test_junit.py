from __future__ import annotations

from hypothesis import given
from lxml import etree

from hardcost.show.exports.junit import junit
from hardcost.units import visible
from tests.show.exports.gates import ANY_TEXT, HOSTILE, gate


def read(text: str) -> etree._Element:
    return etree.fromstring(text.encode())


def test_a_metric_over_its_limit_is_a_failed_test() -> None:
    suite = read(junit(gate()))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    (failure,) = suite.findall("testcase/failure")
    assert failure.get("message") == "open grew by +10.0% (predicted), limit 5.0%"
    assert "rules.d/x.rules:7: -a always,exit" in (failure.text or "")


def test_a_metric_within_its_limit_passes() -> None:
    suite = read(junit(gate(limit=0.2)))[0]
    assert suite.get("failures") == "0"
    (case,) = suite.findall("testcase")
    assert (case.get("name"), case.get("classname")) == ("open", "hardcost.gate.predicted")
    assert (case.findtext("system-out") or "").endswith("+10.0%, limit 20.0%: within")


@ANY_TEXT
@given(control=HOSTILE, metric=HOSTILE, name=HOSTILE)
def test_any_text_comes_out_as_data(control: str, metric: str, name: str) -> None:
    suite = read(junit(gate(control, metric=metric, name=name)))[0]
    assert suite.get("name") == f"hardcost gate: before: {visible(name)}; after: HEAD (predicted)"
    (case,) = suite.findall("testcase")
    assert case.get("name") == visible(metric)
    (failure,) = case
    assert f"rules.d/x.rules:7: {visible(control)}\n" in (failure.text or "")
