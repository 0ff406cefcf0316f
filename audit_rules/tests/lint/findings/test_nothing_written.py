from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "nothing-written"
WATCH = "-w /etc/shadow -p wa -k identity"


@pytest.mark.parametrize(
    ("exclude", "what"),
    [
        ("-F msgtype>0", "it drops every record:"),
        ("-F msgtype>=1000", "it drops every record:"),
        ("-F msgtype=SYSCALL", "it drops SYSCALL, without which"),
        ("-F msgtype!=PATH", "it drops SYSCALL, without which"),
        ("-F msgtype>1299 -F msgtype<1400", "it drops SYSCALL, without which"),
    ],
)
@pytest.mark.parametrize("action", ["always", "never"])
def test_a_filter_that_drops_the_call_itself_leaves_nothing_of_any_rule(
    lint: Lint, exclude: str, what: str, action: str
) -> None:
    (found,) = lint(CODE, WATCH, f"-a {action},exclude {exclude}", "-w /etc/group -p wa -k g")
    assert found.message.startswith(what)
    assert found.message.endswith(": 2 rules write nothing")
    assert (found.spot.line, [spot.line for spot in found.related]) == (2, [1, 3])


def test_a_filter_for_some_processes_is_judged_by_the_rules_for_these(lint: Lint) -> None:
    rule = "-a always,exit -F arch=b64 -S chmod -k x"
    daemons = "-a always,exclude -F msgtype=SYSCALL -F auid=unset"
    assert not lint(CODE, rule, f"{rule} -F auid=1000", daemons)
    (found,) = lint(CODE, rule, f"{rule} -F auid=unset", daemons)
    assert [spot.line for spot in found.related] == [2]
    assert "where auid=unset" in found.message


def test_groups_are_not_compared_since_only_rules_count_supplementary_ones(lint: Lint) -> None:
    rule = "-a always,exit -F arch=b64 -S chmod -F gid=5 -k x"
    assert not lint(CODE, rule, "-a always,exclude -F msgtype=SYSCALL -F gid=5")


@pytest.mark.parametrize(
    "exclude", ["-F msgtype=CWD", "-F msgtype!=SYSCALL", "-F msgtype<1300", "-F uid=0", ""]
)
def test_other_filters_leave_the_call(lint: Lint, exclude: str) -> None:
    assert not lint(CODE, WATCH, f"-a always,exclude {exclude}")


def test_a_filter_that_drops_all_is_found_without_any_rule(lint: Lint) -> None:
    (found,) = lint(CODE, "-a always,exclude -F msgtype>0")
    assert found.message == "it drops every record"
