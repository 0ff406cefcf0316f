from __future__ import annotations

import pkgutil
from collections.abc import Callable
from pathlib import Path

import pytest

from auditrules.kernel.conditions import follows
from auditrules.lint import checks, findings
from auditrules.lint.check import SECTIONS, Documentation
from auditrules.lint.context import Context, LintOptions, gather
from auditrules.lint.diagnostic import Level
from auditrules.model.kernel_rule import Condition
from auditrules.read import parse

DOCUMENTATIONS = {one.code: one for one in checks.documentations()}
HERE = Path(__file__).parent
WRITTEN = {"<257 letters>": "k" * 257, "<CR>": "\r", "<NUL>": "\0", "<TAB>": "\t"}
"""What an example shows, and what stands there."""


def test_each_file_is_one_finding_named_as_the_file_is_and_has_a_test() -> None:
    files = {module.name for module in pkgutil.iter_modules(findings.__path__)}
    assert {code.replace("-", "_") for code in checks.CODES} == files
    assert len(checks.CODES) == len(files)
    tests = {path.stem.removeprefix("test_") for path in (HERE / "findings").glob("test_*.py")}
    assert tests == files


@pytest.mark.parametrize("code", checks.CODES)
def test_each_says_what_it_is_why_it_matters_and_what_to_do(code: str) -> None:
    one = DOCUMENTATIONS[code]
    assert tuple(one.sections) == SECTIONS
    assert all(one.sections.values())
    assert one.title
    assert "\n" not in one.title


@pytest.mark.parametrize("code", checks.CODES)
def test_its_example_has_the_finding(
    code: str, context_of: Callable[..., Context], tmp_path: Path
) -> None:
    example = DOCUMENTATIONS[code].sections["Example"]
    for shown, meant in WRITTEN.items():
        example = example.replace(shown, meant)
    (tmp_path / "etc").mkdir()
    known: dict[str, dict[str, object]] = {
        "dead-b32": {"b32": False},
        "missing-path": {"root": tmp_path},
    }
    options = known.get(code, {})
    context = context_of(*example.split("\n"), **options)
    found = checks.findings_in(context, {code})
    assert found
    assert {one.level for one in found} == {DOCUMENTATIONS[code].level}


def test_an_example_keeps_its_lines_and_other_sections_do_not() -> None:
    text = "Title.\n\nWhat: a\nb\n\nWhy: c\n\nExample:\n    one\n      two\n\nRemedy: d\n"
    one = Documentation("code", Level.NOTE, text)
    assert one.title == "Title"
    assert one.sections == {"What": "a b", "Why": "c", "Example": "one\n  two", "Remedy": "d"}


def test_findings_stand_file_by_file_as_they_load_and_by_line_the_worst_first() -> None:
    readings = (
        *parse.read_bytes(b"-w /b -p wa\n-w relative\n", "second.rules"),
        *parse.read_bytes(b"-a always,exit -S open\n", "first.rules"),
    )
    found = checks.findings_in(gather([readings]))
    assert [(one.spot.file, one.spot.line, one.code) for one in found] == [
        ("second.rules", 1, "no-key"),
        ("second.rules", 2, "cannot-load"),
        ("first.rules", 1, "no-arch"),
        ("first.rules", 1, "at-call-missing"),
        ("first.rules", 1, "high-volume"),
        ("first.rules", 1, "no-key"),
        ("first.rules", 1, "auid-not-tested"),
    ]


def test_findings_can_be_chosen_and_left_out(context_of: Callable[..., Context]) -> None:
    context = context_of("-w /b -p wa", "-w relative")
    assert {one.code for one in checks.findings_in(context, {"no-key"})} == {"no-key"}
    assert {one.code for one in checks.findings_in(context, ignore={"no-key"})} == {"cannot-load"}


def test_nothing_has_a_price_where_no_constants_are_known() -> None:
    lines = b"-a always,exit -S all -k x\n-w /etc/ -p wa -k x\n-a never,exit -S open\n"
    found = checks.findings_in(gather([parse.read_bytes(lines, "x")], options=LintOptions()))
    assert found
    assert all(one.cost is None for one in found)


def test_a_user_whom_nobody_knows_leaves_a_finding_without_a_price(
    context_of: Callable[..., Context],
) -> None:
    (found,) = checks.findings_in(
        context_of("-a always,exit -S all -F uid=chrony -k x"), {"every-call"}
    )
    assert found.cost is None


@pytest.mark.parametrize(
    ("deletion", "left"),
    [
        ("-D", 0),
        ("-D -k ident", 1),  # auditctl looks for the text within keys
        ("-D -k nothing", 2),
        ("-W /etc/shadow -p wa -k identity", 1),
        ("-d always,exit -F path=/etc/shadow -F perm=wa -k identity", 1),
    ],
)
def test_a_rule_that_a_later_line_deletes_is_not_judged(
    deletion: str, left: int, context_of: Callable[..., Context]
) -> None:
    rules = ("-w /etc/shadow -p wa -k identity", "-w /etc/group -p wa -k group")
    context = context_of(*rules, deletion)
    assert len(context.rules) == left
    assert not context.faults


def test_a_rule_that_is_to_be_deleted_and_is_not_there_is_a_fault(
    context_of: Callable[..., Context],
) -> None:
    (found,) = checks.findings_in(context_of("-W /etc/shadow -p wa -k identity"))
    assert (found.code, found.spot.line) == ("cannot-load", 1)


@pytest.mark.parametrize(
    "line",
    [
        "-a always,exit -F arch=b64 -S open -F exit=-EACCES -k k{}",
        "-w /etc/shadow -p wa -k k{}",
        "-a always,exit -F dir=/srv/{0} -F perm=wa -F auid>={0} -k k{0}",
        "-a always,exit -F arch=b64 -S all -F a1={0} -F a2>{0} -F uid={0} -k k{0}",
    ],
)
def test_looking_at_twice_the_rules_takes_about_twice_the_comparisons(
    line: str, context_of: Callable[..., Context], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What could grow with the square of the rules is asking whether conditions imply others."""
    asked = 0

    def counting(condition: Condition, given: tuple[Condition, ...]) -> bool:
        nonlocal asked
        asked += 1
        return follows(condition, given)

    monkeypatch.setattr("auditrules.lint.supersets.follows", counting)
    counts = []
    for rules in (1000, 2000):
        asked = 0
        checks.findings_in(context_of(*(line.format(at) for at in range(rules))))
        counts.append(asked)
    assert counts[1] <= 3 * counts[0] + 1000
