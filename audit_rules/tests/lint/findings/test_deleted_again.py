from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "deleted-again"
SHADOW = "-w /etc/shadow -p wa -k identity"
GROUP = "-w /etc/group -p wa -k group"


@pytest.mark.parametrize(
    ("line", "related", "said"),
    [
        ("-D", [1, 2], "2 rules that are loaded above are deleted again here"),
        ("-D -k ident", [1], "a rule that is loaded above is deleted again here"),
        ("-W /etc/group -p wa -k group", [2], "a rule that is loaded above is deleted again here"),
        ("-d always,exit -F path=/etc/shadow -F perm=wa -k identity", [1], "a rule that is"),
    ],
)
def test_the_line_that_deletes_is_found_with_what_it_deletes(
    lint: Lint, line: str, related: list[int], said: str
) -> None:
    (found,) = lint(CODE, SHADOW, GROUP, line)
    assert (found.spot.line, found.level, found.text) == (3, "warning", line)
    assert found.message.startswith(said)
    assert [spot.line for spot in found.related] == related


def test_each_line_that_deletes_is_found_by_itself(lint: Lint) -> None:
    found = lint(CODE, SHADOW, "-D", GROUP, "-D")
    assert [(one.spot.line, one.related[0].line) for one in found] == [(2, 1), (4, 3)]


def test_a_line_that_deletes_nothing_of_these_files_is_not_found(lint: Lint) -> None:
    assert not lint(CODE, "-D", SHADOW, "-D -k other", GROUP)
    assert not lint(CODE, "-w relative", "-D")
    assert not lint(CODE, SHADOW, "-e 2", "-D")
