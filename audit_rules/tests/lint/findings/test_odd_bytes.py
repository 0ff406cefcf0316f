from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint import checks
from auditrules.lint.context import gather
from auditrules.lint.diagnostic import Diagnostic
from auditrules.read import parse

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "odd-bytes"


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("-w /etc/shadow -p wa -k\tidentity", r"the key \tidentity"),
        ("-w /etc/shadow -p wa -k a\x1b[31m", r"the key a\x1b[31m"),
        ("-w /etc/sha\u200bdow -p wa -k x", r"the path /etc/sha\u200bdow"),
        ("-w /etc/sha\u00a0dow -p wa -k x", r"the path /etc/sha\xa0dow"),
        ("-a always,exit -S open -F exe=/bin/\u202ex -k x", r"the path /bin/\u202ex"),
        ("-a always,exit -S open -F subj_type=a\tb -k x", r"the subj_type a\tb"),
    ],
)
def test_what_is_loaded_and_can_not_be_seen_is_found_and_shown(
    lint: Lint, line: str, shown: str
) -> None:
    (found,) = lint(CODE, "# rules", line)
    assert (found.spot.line, found.level) == (2, "warning")
    assert found.message.startswith(f"{shown} contains ")


def test_bytes_that_are_not_utf_8_are_shown_by_their_numbers() -> None:
    context = gather([parse.read_bytes(b"-w /etc/\xff\xfe -p wa -k \xc3\xa9\xe9\n", "x")])
    (found,) = checks.findings_in(context, {CODE})
    said = rf"the key {chr(0xE9)}\xe9 and the path /etc/\xff\xfe contain "
    assert found.message.startswith(said)


def test_there_is_one_for_each_file() -> None:
    rules = b"-w /a -k\tx\n-w /b -k\ty\n-w /c -k z\n-w /d -k\tw\n-w /e -k\tv\n"
    parts = [parse.read_bytes(rules, "x"), parse.read_bytes(rules.replace(b"/", b"/f/"), "y")]
    found = checks.findings_in(gather(parts), {CODE})
    assert [(one.spot.file, one.spot.line) for one in found] == [("x", 1), ("y", 1)]
    assert [spot.line for spot in found[0].related] == [2, 4, 5]
    assert "and 1 more contain" in found[0].message


def test_a_carriage_return_at_the_end_and_what_can_be_seen_are_not_found(lint: Lint) -> None:
    assert not lint(CODE, "-w /etc/shadow -p wa -k x\r", "-w /etc/gr\u00fcppe -k \u65e5\u672c")
    assert not lint(CODE, "-w /etc/my\\ dir -p wa -k my\\ key", "-w /x -k a -k b")


def test_comments_and_lines_that_can_not_be_loaded_are_not_found(lint: Lint) -> None:
    assert not lint(CODE, "# a\tb", "-w /x\t-p wa -k y", "-w /etc/shadow\t-p wa")
