from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "other-arch"


@pytest.mark.parametrize("arch", ["aarch64", "AARCH64", "s390x", "0xC00000B7", "ppc64le"])
def test_a_rule_for_another_architecture_is_not_checked(
    lint: Lint, context_of: Callable[..., Context], arch: str
) -> None:
    line = f"-a always,exit -F arch={arch} -S openat -k x"
    (found,) = lint(CODE, line)
    assert found.message == f"not checked: arch={arch} is another architecture than x86-64"
    assert not lint("cannot-load", line)
    assert context_of(line).loaded.stops_at is None
    assert not context_of(line).rules


@pytest.mark.parametrize("arch", ["b64", "b32", "i686", "b16"])
def test_one_of_x86_or_of_none_at_all_is_none(lint: Lint, arch: str) -> None:
    assert not lint(CODE, f"-a always,exit -F arch={arch} -S openat -k x")
