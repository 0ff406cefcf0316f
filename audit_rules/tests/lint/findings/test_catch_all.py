from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "catch-all"


@pytest.mark.parametrize(
    "rule",
    [
        "-a always,exit -S all -k x",
        "-a always,exit -F arch=b64 -S all -F auid>=1000 -F auid!=unset -k x",
        "-a always,exit -F arch=b32 -S all -k x",
        "-a always,exit -F auid!=unset -S all -k x",
    ],
)
def test_a_rule_for_all_calls_of_many_is_found_with_its_price(lint: Lint, rule: str) -> None:
    (found,) = lint(CODE, rule)
    assert "it records every" in found.message
    assert found.cost is not None
    assert found.cost.instructions > 0


@pytest.mark.parametrize(
    "rule",
    [
        "-a always,exit -S all -F exit=-EINVAL -k x",
        "-a always,exit -S all -F auid=1000 -k x",
        "-a always,exit -S all -F uid=0 -k x",
        "-a always,exit -F dir=/etc -F perm=wa -k x",
        "-a always,exit -F exe=/bin/su -S all -k x",
        "-a always,exit -F inode=5 -S all -k x",
        "-a always,exit -F arch=b64 -S open -k x",
        "-a never,exit -S all",
    ],
)
def test_what_is_narrowed_or_records_nothing_is_none(lint: Lint, rule: str) -> None:
    assert not lint(CODE, rule)


def test_a_rule_of_one_abi_says_so(lint: Lint) -> None:
    (found,) = lint(CODE, "-a always,exit -F arch=b32 -S all -k x")
    assert found.message == "it records every 32-bit call"
    assert found.cost is not None
    assert "64-bit" in found.cost.paid
