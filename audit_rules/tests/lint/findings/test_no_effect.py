from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "no-effect"


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("-a always,exclude", "without conditions"),
        ("-a never,user", "without conditions"),
        ("-a never,user -F euid=0", "does not test euid there"),
        ("-a never,user -F exe=/usr/bin/x -k k", "does not test its key there"),
        ("-a never,user -F msgtype=SYSCALL", "programs send no records of this type"),
        ("-a always,exclude -F msgtype=DAEMON_START", "auditd writes these records itself"),
        ("-a always,user -F uid=0", "written anyway"),
        ("-a never,task -F arch=b64", "a new task has no arch yet"),
        ("-a always,filesystem -F fstype=tracefs", "heeds only `never`"),
        ("-a never,filesystem", "names no file system"),
    ],
)
def test_a_rule_that_the_kernel_passes_by_is_found(lint: Lint, rule: str, why: str) -> None:
    (found,) = lint(CODE, rule)
    assert why in found.message


@pytest.mark.parametrize(
    "rule",
    [
        "-a always,exclude -F msgtype=CWD",
        "-a never,exclude -F exe=/usr/bin/x",
        "-a never,user -F msgtype=USER_AUTH",
        "-a never,user -F subj_type=crond_t",
        "-a never,task",
        "-a never,task -F uid=5",
        "-a never,filesystem -F fstype=tracefs",
        "-a always,exit -S all",
        "-a always,exclude -F msgtype=CWD -F msgtype=PATH",
    ],
)
def test_one_that_does_something_is_none(lint: Lint, rule: str) -> None:
    assert not lint(CODE, rule)


def test_an_exception_has_to_stand_before_its_rule(lint: Lint) -> None:
    kept, dropped = "-a always,user -F uid=0", "-a never,user -F msgtype=USER_AUTH"
    assert not lint(CODE, kept, dropped)
    assert [one.spot.line for one in lint(CODE, dropped, kept)] == [2]
