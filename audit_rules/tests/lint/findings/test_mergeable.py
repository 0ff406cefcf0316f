from __future__ import annotations

from collections.abc import Callable

from auditrules.cost.constants import Constants
from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "mergeable"


RULE = "-a always,exit -F arch=b64 -S {} -F auid>=1000 -F auid!=unset -k {}"


def test_rules_that_differ_in_their_calls_are_reported_once_with_what_merging_spares(
    lint: Lint, constants: Constants
) -> None:
    (found,) = lint(
        CODE,
        RULE.format("chmod", "perm"),
        RULE.format("unlink", "delete"),
        RULE.format("chown", "perm"),
        "-a always,exit -F arch=b64 -S fchmod -F auid!=unset -F auid>=1000 -k perm",
    )
    assert (found.spot.line, [spot.line for spot in found.related]) == (1, [3, 4])
    assert found.cost is not None
    assert found.cost.instructions == 2 * constants.walk["unnamed"]


def test_another_key_action_abi_or_condition_keeps_rules_apart(lint: Lint) -> None:
    rule = RULE.format("chmod", "perm")
    assert not lint(
        CODE,
        rule,
        rule.replace("chmod", "chown").replace("perm", "other"),
        rule.replace("chmod", "chown").replace("always", "never"),
        rule.replace("chmod", "chown").replace("b64", "b32"),
        rule.replace("chmod", "chown").replace("1000", "500"),
    )


def test_watches_of_files_cost_other_calls_nothing_and_are_left_alone(lint: Lint) -> None:
    assert not lint(
        CODE,
        "-a always,exit -F arch=b64 -S open -F path=/x -k a",
        "-a always,exit -F arch=b64 -S openat -F path=/x -k a",
    )
