from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "arch-lacks-call"


def test_a_number_that_is_no_call_never_fires(lint: Lint) -> None:
    (found,) = lint(CODE, "-a always,exit -F arch=b64 -S 350 -k x")
    assert found.message.startswith("it never fires: b64 has no call with the number 350")
    assert "350 is finit_module in b32" in found.message
    assert found.spot.column == 31


def test_a_rule_with_other_calls_as_well_still_fires(lint: Lint) -> None:
    (found,) = lint(CODE, "-a always,exit -F arch=b64 -S open -S 350 -k x")
    assert found.message.startswith("b64 has no call")
    assert found.cost is None


def test_names_known_numbers_and_calls_that_are_newer_than_the_table_are_not_judged(
    lint: Lint,
) -> None:
    assert not lint(CODE, "-a always,exit -F arch=b64 -S open,2 -k x")
    assert not lint(CODE, "-a always,exit -F arch=b64 -S 1999 -k x")
    assert not lint(CODE, "-a always,exit -F arch=b64 -S all -F uid=0 -k x")
    assert not lint(CODE, "-a always,exit -S 350 -k x")  # a call in b32
