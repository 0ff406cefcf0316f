from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "dead-b32"


RULE = "-a always,exit -F arch=b32 -S mount -k export"


def test_rules_for_32_bit_calls_are_dead_where_nobody_can_make_them(lint: Lint) -> None:
    (found,) = lint(CODE, RULE, RULE.replace("b32", "b64"), b32=False)
    assert (found.spot.line, found.spot.column) == (1, 19)


def test_they_are_alive_where_32_bit_entry_is_on(lint: Lint) -> None:
    assert not lint(CODE, RULE)


def test_a_rule_for_all_but_b64_is_not_judged(lint: Lint) -> None:
    assert not lint(CODE, RULE.replace("arch=b32", "arch!=b32"), b32=False)
