from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "audit-off"


WATCH = "-w /etc/shadow -p wa -k x"


def test_switching_auditing_off_beside_rules_that_record_is_found(lint: Lint) -> None:
    (found,) = lint(CODE, "-a task,never", WATCH, "-w /etc/group -p wa -k x")
    assert (found.spot.line, [spot.line for spot in found.related]) == (1, [2, 3])
    assert "2 rules never fire" in found.message


def test_it_may_stand_alone(lint: Lint) -> None:
    assert not lint(CODE, "-D", "-a task,never")


def test_for_some_tasks_only_or_behind_another_task_rule_it_is_none(lint: Lint) -> None:
    assert not lint(CODE, "-a never,task -F uid=5", WATCH)
    assert not lint(CODE, "-a always,task", "-a never,task", WATCH)
