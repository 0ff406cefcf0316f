from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "unset-auid"
CHMOD = "-a always,exit -F arch=b64 -S chmod"


@pytest.mark.parametrize(
    "fields",
    ["-F auid>=1000", "-F auid>0", "-F sessionid>=1", "-C uid!=auid", "-C auid!=obj_uid -F uid=0"],
)
@pytest.mark.parametrize("action", ["always", "never"])
def test_a_rule_that_matches_daemons_though_it_names_users_is_found(
    lint: Lint, fields: str, action: str
) -> None:
    (found,) = lint(CODE, f"-a {action},exit -F arch=b64 -S chmod {fields} -k x")
    assert "every daemon matches too" in found.message


@pytest.mark.parametrize(
    "fields",
    [
        "-F auid>=1000 -F auid!=unset",
        "-F auid!=-1 -F auid>=1000",
        "-F auid>=1000 -F auid!=4294967295",
        "-F auid>=1000 -F auid<60000",
        "-F auid>=1000 -F sessionid!=-1",
        "-F auid>=1000 -C auid=obj_uid",
        "-C uid!=auid -F auid=1000",
        "-C uid!=euid",
        "-F uid>=1000",
        "-F auid=unset",
        "-F auid!=0",
        "-F auid<1000",
    ],
)
def test_one_that_leaves_them_out_or_names_them_is_none(lint: Lint, fields: str) -> None:
    assert not lint(CODE, f"{CHMOD} {fields} -k x")


def test_an_earlier_rule_may_decide_about_them(lint: Lint) -> None:
    rule = f"{CHMOD} -F auid>=1000 -k x"
    assert not lint(CODE, "-a never,exit -F auid=unset", rule)
    assert not lint(CODE, "-a never,exit -F arch=b64 -S chmod -F auid=-1", rule)
    assert lint(CODE, rule, "-a never,exit -F auid=unset")
    assert lint(CODE, "-a never,exit -F auid=unset -F uid=0", rule)


def test_filters_of_records_and_tasks_have_the_same_fault(lint: Lint) -> None:
    lines = ("-a always,exclude -F auid>=1000", "-a never,task -F auid>=1000")
    assert [one.spot.line for one in lint(CODE, *lines)] == [1, 2]
