from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "exit-unsigned"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("exit>0", "exit>0 holds also for calls that fail"),
        ("exit>=0", "exit>=0 holds also for calls that fail"),
        ("exit<=-1", "exit<=-EPERM holds also for calls that succeed"),
        ("exit<=0", "exit<=0 does not hold for calls that fail"),
        ("exit>=-200", "exit>=-200 does not hold for calls that succeed"),
        ("exit>-EACCES", "does not hold for calls that succeed"),
        ("exit>2 -F exit!=-13", "holds also for calls that fail"),
    ],
)
def test_an_order_that_signs_would_change_is_found(lint: Lint, fields: str, said: str) -> None:
    (found,) = lint(CODE, f"-a always,exit -F arch=b64 -S openat -F {fields} -k x")
    assert said in found.message


@pytest.mark.parametrize(
    "fields",
    [
        "exit=-EACCES",
        "exit!=0",
        "exit>=0 -F success=1",
        "exit>=-13 -F exit<=-1",
        "exit>=0 -F exit<=5",
        "exit<0",  # contradictory says that it never holds
        "a0>5",
    ],
)
def test_what_is_the_same_either_way_is_none(lint: Lint, fields: str) -> None:
    assert not lint(CODE, f"-a always,exit -F arch=b64 -S openat -F {fields} -k x")
