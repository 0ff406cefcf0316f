from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "unstable-order"


def test_two_rules_on_one_path_with_different_keys_or_actions_rival(lint: Lint) -> None:
    found = lint(
        CODE,
        "-w /etc/shadow -p wa -k identity",
        "-w /etc/shadow -p rwa -k access",
        "-a never,exit -F path=/etc/shadow -F uid=0",
    )
    assert [(one.spot.line, [spot.line for spot in one.related]) for one in found] == [
        (2, [1]),
        (3, [1, 2]),
    ]
    assert "another key" in found[0].message
    assert "another action" in found[1].message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-F perm=wa -k a", "-F perm=x -k b"),
        ("-F perm=a -k a", "-F perm=r -k b"),
        ("-F perm=wa -k a", "-F perm=r -F auid=5 -k a"),
        ("-F auid>=1000 -F perm=wa -k a", "-F auid<1000 -F perm=wa -k b"),
        ("-F success=1 -F perm=wa -k a", "-F success=0 -F perm=wa -k b"),
        ("-F obj_uid=0 -F perm=wa -k a", "-F obj_uid!=0 -F perm=wa -k b"),
        ("-S open -k a", "-S openat -k b"),
    ],
)
def test_rules_that_never_meet_or_say_the_same_do_not(lint: Lint, one: str, other: str) -> None:
    rule = "-a always,exit -F arch=b64 -F path=/etc/shadow"
    assert not lint(CODE, f"{rule} {one}", f"{rule} {other}")


def test_read_and_write_meet_in_a_file_opened_for_both(lint: Lint) -> None:
    assert lint(CODE, "-w /x -p w -k a", "-w /x -p r -k b")


def test_rules_of_two_abis_on_other_paths_and_on_trees_do_not_rival(lint: Lint) -> None:
    assert not lint(CODE, "-w /x -p w -k a", "-w /y -p w -k b")
    assert not lint(CODE, "-w /x/ -p w -k a", "-w /x/ -p w -k b")
    rule = "-a always,exit -F arch={} -S all -F path=/x -k {}"
    assert not lint(CODE, rule.format("b64", "a"), rule.format("b32", "b"))
