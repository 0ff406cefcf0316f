from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "no-key"


def test_a_rule_that_records_without_a_key_is_found(lint: Lint) -> None:
    found = lint(CODE, "-w /etc/shadow -p wa", "-a always,exit -F arch=b64 -S open -F uid=0")
    assert [one.spot.line for one in found] == [1, 2]


def test_rules_with_a_key_in_either_form_and_those_that_record_nothing_are_none(
    lint: Lint,
) -> None:
    assert not lint(
        CODE,
        "-w /etc/shadow -p wa -k x",
        "-a always,exit -F arch=b64 -S open -F key=x",
        "-a never,exit -F arch=b64 -S adjtimex",
        "-a never,task",
        "-a always,exclude -F msgtype=CWD",
    )
