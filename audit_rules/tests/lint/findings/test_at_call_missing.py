from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "at-call-missing"
RULE = "-a always,exit -F arch=b64 -S {} -F auid>=1000 -k x"


@pytest.mark.parametrize("arch", ["b64", "b32"])
def test_open_without_openat_is_found(lint: Lint, arch: str) -> None:
    (found,) = lint(CODE, RULE.format("creat,open").replace("b64", arch))
    assert (found.spot.line, found.level) == (1, "warning")
    assert found.message == (
        "it names open, but no rule with the same or wider conditions names openat, which glibc's"
        " open() calls"
    )
    assert found.remedy == "name openat in the rule too"


def test_other_calls_are_found_together_as_a_note(lint: Lint) -> None:
    calls = "open,unlink,rename,chmod,chown,mkdir,link,symlink,mknod"
    warning, note = lint(CODE, RULE.format(calls))
    assert (warning.level, note.level) == ("warning", "note")
    assert note.remedy == (
        "name unlinkat, renameat, renameat2, fchmodat, fchownat, mkdirat, linkat, symlinkat and"
        " mknodat in the rule too"
    )


def test_of_the_forms_of_rename_the_missing_ones_are_named(lint: Lint) -> None:
    (found,) = lint(CODE, RULE.format("rename,renameat"))
    assert found.remedy == "name renameat2 in the rule too"


@pytest.mark.parametrize(
    "other",
    [
        RULE.format("openat"),
        RULE.format("openat").replace("-k x", "-k y"),
        RULE.format("openat").replace(" -F auid>=1000", ""),
        RULE.format("openat").replace("1000", "500"),
        RULE.format("openat").replace("-F arch=b64 -S openat", "-S openat"),
        RULE.format("257").replace("arch=b64", "arch!=b32"),
        RULE.format("all"),
    ],
)
def test_another_rule_may_record_it_with_the_same_or_wider_conditions(
    lint: Lint, other: str
) -> None:
    assert not lint(CODE, RULE.format("open"), other)


@pytest.mark.parametrize(
    "other",
    [
        RULE.format("openat").replace("1000", "2000"),
        RULE.format("openat").replace("b64", "b32"),
        RULE.format("openat").replace("arch=b64", "arch!=b64"),
        RULE.format("openat").replace("always", "never"),
        RULE.format("openat2"),
    ],
)
def test_narrower_rules_those_of_the_other_abi_and_those_that_record_nothing_do_not_count(
    lint: Lint, other: str
) -> None:
    assert [one.spot.line for one in lint(CODE, RULE.format("open"), other)] == [1]


def test_arguments_stand_one_further_on_in_the_newer_call(lint: Lint) -> None:
    rule = RULE.format("open").replace("-F auid", "-F a1&0100 -F auid")
    newer = RULE.format("openat").replace("-F auid", "-F a2&0100 -F auid")
    assert not lint(CODE, rule, newer)
    (found,) = lint(CODE, rule, newer.replace("a2", "a1"))
    assert found.remedy == (
        "add a rule for openat with each tested argument shifted by one (a1 becomes a2)"
    )


@pytest.mark.parametrize(("calls", "argument"), [("rename,link,symlink", "a0"), ("open", "a3")])
def test_nothing_is_said_where_the_newer_call_has_its_arguments_elsewhere(
    lint: Lint, calls: str, argument: str
) -> None:
    assert not lint(CODE, RULE.format(calls).replace("-F auid", f"-F {argument}=5 -F auid"))


@pytest.mark.parametrize(
    "rule",
    [
        RULE.format("open").replace("always", "never"),
        RULE.format("all"),
        RULE.format("open,openat"),
        RULE.format("read,openat,creat"),
        "-w /etc/shadow -p wa -k x",
        "-a always,exit -F arch=b32 -S 2 -k x",  # open in b64, fork here
        "-a always,task -k x",
    ],
)
def test_rules_with_nothing_missing_are_not_found(lint: Lint, rule: str) -> None:
    assert not lint(CODE, rule)


def test_a_rule_without_an_abi_means_the_calls_of_b64(lint: Lint) -> None:
    assert lint(CODE, "-a always,exit -S open -k x")
    assert not lint(CODE, "-a always,exit -S open,openat -k x")


def test_the_rules_of_ospp_that_test_arguments_have_nothing_missing(lint: Lint) -> None:
    flags = "-F arch={0} -S {1} -F {2}&{3} -F exit=-EACCES -F auid>=1000 -F auid!=unset -k x"
    assert not lint(
        CODE,
        *(
            f"-a always,exit {flags.format(arch, call, argument, bits)}"
            for arch in ("b32", "b64")
            for bits in ("0100", "01003")
            for call, argument in (("openat,open_by_handle_at", "a2"), ("open", "a1"))
        ),
    )
