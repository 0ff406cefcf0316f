from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "b32-taxes-b64"


def test_the_64_bit_calls_that_a_32_bit_rule_hits_are_named_with_what_they_pay(
    lint: Lint,
) -> None:
    (found,) = lint(
        CODE,
        "-a always,exit -F arch=b32 -S open -F exit=-EACCES -k a",
        "-a always,exit -F arch=b32 -S open -F exit=-EPERM -k a",
        "-a always,exit -F arch=b32 -S rename -k b",
    )
    assert (
        "2 64-bit calls that no 64-bit rule names try 32-bit rules: fstat and setitimer;"
        in found.message
    )
    assert "fstat tries 2 rules" in found.message
    assert [spot.line for spot in found.related] == [1, 2, 3]
    assert found.cost is not None
    assert found.cost.instructions > 0
    assert "fstat" in found.cost.paid


def test_a_call_that_a_64_bit_rule_names_is_not_slowed_by_chance(lint: Lint) -> None:
    assert not lint(
        CODE,
        "-a always,exit -F arch=b64 -S fstat -F uid=0 -k x",
        "-a always,exit -F arch=b32 -S open -k x",
    )


def test_64_bit_rules_and_those_for_all_calls_are_none(lint: Lint) -> None:
    assert not lint(CODE, "-a always,exit -F arch=b64 -S open -k x")
    assert not lint(CODE, "-a always,exit -F arch=b32 -S all -k x")
    assert not lint(CODE, "-a always,exit -F arch=b32 -S open -F path=/x -k x")
