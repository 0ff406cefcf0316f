from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "drops-unasked"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("-F msgtype!=SYSCALL", "all records but SYSCALL, also LOGIN, USER_AUTH, AVC and"),
        ("-F msgtype!=SYSCALL -F msgtype!=AVC", "but SYSCALL and AVC, also LOGIN, USER_AUTH and"),
    ],
)
def test_a_filter_that_names_what_it_is_not_about_is_found(
    lint: Lint, fields: str, said: str
) -> None:
    (found,) = lint(CODE, f"-a always,exclude {fields}")
    assert said in found.message
    assert ("joined by `and`" in found.message) is (fields.count("!=") > 1)


@pytest.mark.parametrize(
    "rule",
    [
        "-a always,exclude -F msgtype=CWD",
        "-a always,exclude -F msgtype>=1100 -F msgtype<=1199 -F msgtype!=USER_LOGIN",
        "-a always,exclude -F msgtype!=AVC -F exe=/usr/bin/x",
        "-a never,user -F msgtype!=USER_LOGIN",
    ],
)
def test_one_that_names_what_it_drops_or_whose_is_none(lint: Lint, rule: str) -> None:
    assert not lint(CODE, rule)
