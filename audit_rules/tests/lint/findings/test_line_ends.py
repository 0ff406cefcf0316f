from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint import checks
from auditrules.lint.context import gather
from auditrules.lint.diagnostic import Diagnostic
from auditrules.read import parse

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "line-ends"
BEGINS = "in a carriage return, which auditctl reads as part of the last word: "


def test_one_finding_says_what_carriage_returns_do_to_a_file(lint: Lint) -> None:
    lines = [
        "# rules",
        "-D",
        "",
        "-b 8192",
        "-w /etc/shadow -p wa -k identity",
        "-w /etc/group -p wa -k identity",
        "-w /etc/passwd -p wa",
        "-a always,exit -F arch=b64 -S openat -F exit=-EPERM -F dir=/srv",
        "-a always,exit -F arch=b64 -S openat -F subj_type=init_t",
    ]
    (found,) = lint(CODE, *(f"{line}\r" for line in lines))
    assert found.message == (
        f"every line ends {BEGINS}3 lines can't be loaded because of it, 2 keys end in \\r"
        " ('identity\\r'), 1 path ends in \\r ('/srv\\r') and 1 other value ends in \\r"
    )
    assert (found.level, found.spot.line) == ("error", 2)
    assert [spot.line for spot in found.related] == [3, 7]
    assert found.remedy.endswith(r"sed -i 's/\r$//' FILE")


def test_no_line_is_said_twice_and_other_faults_are_still_said(lint: Lint) -> None:
    lines = ("-D\r", "-w /etc/shadow -p wa\r", "-w relative\r", "-Z\r", "-W relative\r")
    assert [one.spot.line for one in lint("cannot-load", *lines)] == [3, 4, 5]
    (found,) = lint(CODE, *lines)
    assert "2 lines can't be loaded because of it" in found.message


def test_where_all_lines_load_it_is_a_warning(lint: Lint) -> None:
    (found,) = lint(CODE, "# rules", "-w /etc/shadow -p wa -k identity\r", "-b 8192\r")
    assert (found.level, found.spot.line, found.related) == ("warning", 2, ())
    assert found.message == f"2 of 3 lines end {BEGINS}1 key ends in \\r ('identity\\r')"
    (found,) = lint(CODE, "-b 8192\r")
    assert found.message == f"every line ends {BEGINS}no key and no path ends in one"


def test_there_is_one_for_each_file() -> None:
    parts = [parse.read_bytes(b"-D\r\n-w /a\r\n", name) for name in ("x", "y")]
    found = checks.findings_in(gather(parts), {CODE})
    assert [(one.spot.file, one.spot.line) for one in found] == [("x", 1), ("y", 1)]


@pytest.mark.parametrize("lines", [("-D", "-w /a -k x"), ("# note\r", "-w /a -k x"), ("-w /a\rb",)])
def test_files_without_them_or_with_them_in_comments_alone_are_not_found(
    lint: Lint, lines: tuple[str, ...]
) -> None:
    assert not lint(CODE, *lines)
