from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "field-as-value"


@pytest.mark.parametrize(
    ("field", "remedy"),
    [
        ("uid!=euid", "write -C uid!=euid"),
        ("euid=UID", "write -C euid=uid"),
        ("auid!=loginuid", "compare it with a value: -C can't compare these two so"),
        ("gid!=egid", "write -C gid!=egid"),
        ("auid!=obj_uid", "write -C auid!=obj_uid"),
        ("uid>euid", "compare it with a value: -C can't compare these two so"),
    ],
)
def test_a_field_as_the_value_of_another_is_found(lint: Lint, field: str, remedy: str) -> None:
    (found,) = lint(CODE, f"-a always,exit -F arch=b64 -S execve -F {field} -k x")
    assert found.remedy == remedy


@pytest.mark.parametrize("field", ["-F uid=joe", "-F uid=0", "-F gid=wheel", "-C uid!=euid"])
def test_users_groups_and_comparisons_are_none(lint: Lint, field: str) -> None:
    assert not lint(CODE, f"-a always,exit -F arch=b64 -S execve {field} -k x")
