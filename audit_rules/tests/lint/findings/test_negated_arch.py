from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "negated-arch"


def test_calls_named_by_the_excluded_abi_are_found(lint: Lint) -> None:
    (found,) = lint(CODE, "-a always,exit -F arch!=b64 -S execve,ptrace -k x")
    assert "execve is 59, which is oldolduname in b32" in found.message
    (found,) = lint(CODE, "-a always,exit -F arch!=b32 -S open -k x")
    assert "open is 5, which is fstat in b64" in found.message
    assert found.remedy == "write arch=b64"


@pytest.mark.parametrize(
    "fields",
    ["arch=b64 -S execve", "arch!=b64 -S all", "arch!=b64 -S 11", "arch!=b64 -F perm=x"],
)
def test_numbers_all_calls_and_a_named_abi_are_none(lint: Lint, fields: str) -> None:
    assert not lint(CODE, f"-a always,exit -F {fields} -k x")
