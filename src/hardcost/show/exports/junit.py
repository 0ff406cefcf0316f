"""A gate as JUnit XML: a test case for each metric, which fails if it is over its limit."""

from __future__ import annotations

from lxml import etree

from hardcost.model.finding.change import Gate, Growth
from hardcost.show.exports.export import Export
from hardcost.show.sentences.gate import (
    amount,
    any_rule,
    conditions,
    growth_percent,
    limit,
    line_cost,
    signed_percent,
    title,
    verdict,
)
from hardcost.units import visible


def junit(gate: Gate) -> str:
    """Return a gate as the XML that CI servers read as a test report."""
    suites = etree.Element("testsuites", name="hardcost gate")
    suite = etree.SubElement(
        suites,
        "testsuite",
        name=f"hardcost gate: {title(gate)}",
        tests=str(len(gate.growths)),
        failures=str(len(gate.over)),
        errors="0",
        skipped="0",
    )
    for growth in gate.growths:
        _case(suite, gate, growth)
    said = etree.SubElement(suite, "system-out")
    said.text = "\n".join(conditions(gate))
    text: bytes = etree.tostring(suites, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return text.decode()


def _case(suite: etree._Element, gate: Gate, growth: Growth) -> None:
    case = etree.SubElement(
        suite, "testcase", classname=f"hardcost.gate.{gate.how}", name=visible(growth.name)
    )
    values = (
        f"{gate.how}: {amount(growth, growth.base, with_sign=False)} before,"
        f" {amount(growth, growth.head, with_sign=False)} after, in {visible(growth.unit)}:"
        f" {growth_percent(growth)}, limit {limit(growth)}: {verdict(growth)}"
    )
    if growth.fixed:
        values += f"\n{any_rule(growth)}"
    if not growth.over:
        etree.SubElement(case, "system-out").text = values
        return
    lines = [
        f"{'' if part.line.place is None else visible(part.line.place)}:"
        f" {visible(part.line.control)}\n  {line_cost(gate, part.line)}"
        for part in growth.parts
    ]
    message = f"{visible(growth.name)} grew by {signed_percent(growth.share)} ({gate.how})"
    failure = etree.SubElement(
        case, "failure", type="over-limit", message=f"{message}, limit {limit(growth)}"
    )
    failure.text = "\n".join([values, *lines])


JUNIT = Export("junit", junit)
