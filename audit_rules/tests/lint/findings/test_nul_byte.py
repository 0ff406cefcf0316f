from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "nul-byte"


def test_the_line_is_found_with_the_column_where_it_is_cut(lint: Lint) -> None:
    (found,) = lint(CODE, "-w /etc/group -p wa -k x", "-w /etc/shadow -p wa\0 -k lost")
    assert (found.spot.line, found.spot.column, found.level) == (2, 21, "warning")
    assert "NUL byte" in found.message
    assert found.text == "-w /etc/shadow -p wa"


def test_a_line_at_fault_is_found_too(lint: Lint) -> None:
    (found,) = lint(CODE, "-w relative\0")
    assert found.spot.line == 1


def test_other_lines_are_not_found(lint: Lint) -> None:
    assert not lint(CODE, "# note", "", "-w /etc/shadow -p wa -k x")
