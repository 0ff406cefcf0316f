from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "duplicate-rule"


WATCH = "-w /etc/passwd -p wa -k identity"


def test_a_rule_that_is_there_already_is_refused_also_in_another_form(lint: Lint) -> None:
    found = lint(CODE, WATCH, "-a always,exit -F path=/etc/passwd -F perm=wa -k identity")
    assert [(one.spot.line, str(one.related[0]), one.level) for one in found] == [
        (2, "x.rules:1", "error")
    ]


def test_another_key_another_order_of_fields_or_a_prepended_rule_is_no_duplicate(
    lint: Lint,
) -> None:
    assert not lint(CODE, WATCH, WATCH.replace("identity", "other"))
    assert not lint(
        CODE,
        "-a always,exit -F path=/etc/passwd -F perm=wa -k identity",
        "-a always,exit -F perm=wa -F path=/etc/passwd -k identity",
    )
    assert not lint(CODE, WATCH, "-A always,exit -F path=/etc/passwd -F perm=wa -k identity")


def test_a_rule_that_was_deleted_in_between_can_be_added_again(lint: Lint) -> None:
    assert not lint(CODE, WATCH, "-D", WATCH)
    assert not lint(CODE, WATCH, "-D -k identity", WATCH)
    assert lint(CODE, WATCH, "-D -k other", WATCH)
