from __future__ import annotations

import re
from urllib.parse import unquote

from hypothesis import given
from tests.report.exports.findings import finding
from tests.report.exports.gates import ANY_TEXT, HOSTILE

from hardcost.report.exports.benchstat import benchstat
from hardcost.report.text import visible

RESULT = re.compile(r"Benchmark(?P<name>\S+) (?P<times>\d+) (?P<value>\S+) (?P<unit>\S+)")
CONFIGURATION = re.compile(r"(?P<key>[a-z][^\sA-Z:]*):(?:[ \t]+(?P<value>.*))?")
UNIT = re.compile(r"Unit (?P<unit>\S+) (?P<said>.+)")


def read(text: str) -> tuple[dict[str, str], list[tuple[dict[str, str], float, str]]]:
    """Read the format as golang.org/x/perf/benchfmt does: every line is of one of three kinds."""
    facts: dict[str, str] = {}
    found = []
    for line in text.removesuffix("\n").split("\n"):
        if result := RESULT.fullmatch(line):
            assert not re.search(r"-\d+$", result["name"])  # it would be the processors
            _, *parts = result["name"].split("/")
            keys = {key: unquote(value, errors="surrogateescape") for key, _, value in
                    (part.partition("=") for part in parts)}  # fmt: skip
            found.append((keys, float(result["value"]), result["unit"]))
        elif fact := CONFIGURATION.fullmatch(line):
            facts[fact["key"]] = fact["value"] or ""
        else:
            assert UNIT.fullmatch(line), line
    return facts, found


def test_a_cell_is_a_benchmark_of_its_configuration() -> None:
    facts, found = read(benchstat([finding()]))
    assert facts["kernel"] == "x"
    assert facts["cpu-model"] == "max"
    keys = {"workload": "x", "configuration": "x", "metric": "x"}
    assert found[1] == (keys, 110.0, "insn/op")


def test_instructions_are_exact_and_less_is_better() -> None:
    assert "Unit insn/op better=lower assume=exact\n" in benchstat([finding()])


def test_a_number_at_the_end_of_a_name_is_not_taken_for_the_processors() -> None:
    _, found = read(benchstat([finding("uid-8")]))
    assert found[1][0]["metric"] == "uid-8"


@ANY_TEXT
@given(text=HOSTILE)
def test_any_text_comes_out_as_data(text: str) -> None:
    facts, found = read(benchstat([finding(text)]))
    assert facts["kernel"] == visible(text).lstrip(" ")
    assert len(found) == 2
    assert found[1][0] == {"workload": text, "configuration": text, "metric": text}
