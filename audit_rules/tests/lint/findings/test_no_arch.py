from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "no-arch"


def test_names_without_arch_are_64_bit_numbers_that_mean_other_calls_in_b32(lint: Lint) -> None:
    (found,) = lint(CODE, "-a always,exit -S open -F exit=-EACCES -k access")
    assert "open (2) is fork in b32" in found.message
    assert found.spot.column == 16


def test_a_rule_that_excludes_an_abi_is_reported_for_that_alone(lint: Lint) -> None:
    rule = "-a always,exit -F arch!=b64 -S open -k access"
    assert not lint(CODE, rule)
    assert lint("negated-arch", rule)


def test_rules_with_arch_or_for_all_calls_and_watches_are_none(lint: Lint) -> None:
    assert not lint(CODE, "-a always,exit -F arch=b64 -S open -k x")
    assert not lint(CODE, "-a always,exit -S all -F exit=-EACCES -k x")
    assert not lint(CODE, "-a always,exit -F path=/bin/su -F perm=x -k x")
    assert not lint(CODE, "-w /etc/shadow -p wa -k x", "-a never,task")
