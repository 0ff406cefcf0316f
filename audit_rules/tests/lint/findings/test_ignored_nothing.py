from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint import checks
from auditrules.lint.diagnostic import Diagnostic
from auditrules.lint.findings import ignored_nothing

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "ignored-nothing"
RULE = "-w /etc/passwd -p wa"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["# hardcost: ignore=no-keys", RULE], "names 'no-keys', which is no code"),
        (["# hardcost: ignore=no-key,nope why", RULE], "names 'nope', which is no code"),
        (["# hardcost: ignore no-key", RULE], "is not understood"),
        (["#hardcost: disable=no-key", RULE], "is not understood"),
        (["# hardcost: ignore=no-key", "", RULE], "has no line right below it"),
        (["# hardcost: ignore=no-key"], "has no line right below it"),
    ],
)
def test_a_comment_that_leaves_nothing_out_is_found(
    lint: Lint, lines: list[str], said: str
) -> None:
    (found,) = lint(CODE, *lines)
    assert (found.spot.line, found.level, found.message) == (1, "warning", f"the comment {said}")


def test_every_code_and_the_gates_is_known_and_other_comments_are_not_ours(lint: Lint) -> None:
    assert {*checks.CODES, "over-limit"} == ignored_nothing._KNOWN
    codes = ", ".join(sorted(ignored_nothing._KNOWN))
    assert not lint(CODE, f"# hardcost: ignore={codes} as agreed", "# and", RULE)
    assert not lint(CODE, "# hardcost measures this", "# ignore=nothing", RULE)
