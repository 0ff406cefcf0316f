"""The file of a cheaper set."""

from __future__ import annotations

from dataclasses import replace

from auditrules.auditctl.translate import AS_WRITTEN
from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.load.load import load_lines
from auditrules.optimize.optimize import OptimizeOptions, optimise
from auditrules.optimize.output import text
from auditrules.read import parse

LINES = (
    "-a always,exit  -F arch=b32 -S open -F exit=-EACCES -F auid>=1000 -k access",
    "-a always,exit  -F arch=b64 -S open -F exit=-EACCES -F auid>=1000 -k access",
)


def test_lines_are_kept_of_rules_that_were_read_from_one_place() -> None:
    """A datastream has several rules at the place of one XCCDF rule."""
    readings = parse.read_bytes("\n".join([*LINES, ""]).encode(), "x.rules")
    place = readings[0].place
    alike = [
        replace(one, place=place, rule=one.rule and replace(one.rule, place=place))
        for one in readings
    ]
    made = optimise(
        load_lines([alike]).rules,
        Constants.of_debian(),
        general(),
        OptimizeOptions(keep_lines=True),
    )
    written = text(made, alike, AS_WRITTEN).splitlines()
    assert [line for line in written if line.startswith("-")] == list(LINES)
