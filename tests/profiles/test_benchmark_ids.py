"""What benchmarks call their controls, and what these require."""

from __future__ import annotations

import pytest

from hardcost.errors import InputError
from hardcost.profiles import benchmark_ids, catalogue

SETUID = (
    "-a always,exit -F arch=b64 -S execve -C uid!=euid -F euid=0 -F key=setuid",
    "audit_rules_suid_privilege_function",
)


@pytest.mark.parametrize(
    "name",
    [
        "RHEL-09-654010",
        "rhel-09-654010",
        "CCE-86402-5",
        "V-258176",
        "SV-258176r958730_rule",
        "audit_rules_suid_privilege_function",
        "xccdf_org.ssgproject.content_rule_audit_rules_suid_privilege_function",
        "rhel9:audit_rules_suid_privilege_function",
    ],
)
def test_each_name_of_a_control_is_the_same_control(name: str) -> None:
    profile = catalogue.load(name)
    rule = profile.controls[4]
    assert (rule.name, rule.ids[0]) == SETUID
    assert len(profile.controls) == 5  # audit's daemon and four rules
    assert "RHEL-09-654010" in rule.ids
    assert "scap-security-guide 0.1.82-1" in profile.source


def test_a_number_stands_for_all_its_xccdf_rules() -> None:
    names = [one.name for one in catalogue.load("RHEL-09-654070").controls]
    assert any(
        "-S open_by_handle_at -S openat -S truncate -F exit=-EPERM" in name for name in names
    )


def test_a_number_of_several_benchmarks_has_to_say_whose_it_is() -> None:
    with pytest.raises(InputError, match="is a number of 2 CIS benchmarks") as error:
        catalogue.load("6.3.3.9")
    hint = error.value.problems[0].hint or ""
    assert "rhel9:6.3.3.9 is audit_rules_dac_modification_chmod" in hint
    names = [
        [one.name for one in catalogue.load(f"{product}:6.3.3.9").controls]
        for product in ("ubuntu22.04", "ubuntu2204")
    ]
    assert names[0] == names[1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("RHEL-09-411050", "it acts when someone logs in"),
        ("RHEL-09-999999", "no benchmark here has a control"),
        ("SRG-OS-000458-GPOS-00203", "is a requirement that many controls meet"),
    ],
)
def test_what_can_not_be_had_has_a_reason(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        catalogue.load(name)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("rhel-09-65401", "RHEL-09-654010"),
        ("rhel9:6.3.3.99", "rhel9:6.3.3.9"),
        (
            "xccdf_org.ssgproject.content_rule_sysctl_kernel_kptr_restrct",
            "xccdf_org.ssgproject.content_rule_sysctl_kernel_kptr_restrict",
        ),
    ],
)
def test_a_slip_in_a_name_gets_those_that_are_near(name: str, near: str) -> None:
    with pytest.raises(InputError, match="no benchmark here") as caught:
        catalogue.load(name)
    hint = str(caught.value.problems[0].hint)
    assert hint.startswith("did you mean ")
    assert near in hint.partition("?")[0].removeprefix("did you mean ").split(" or ")


def test_what_no_benchmark_says_is_no_name() -> None:
    assert not benchmark_ids.is_name("stig-reduced")
    assert not benchmark_ids.is_name("kernel.kptr_restrict=2")


@pytest.mark.parametrize("product", ["rhel9", "ubuntu2204", "ubuntu2404"])
def test_all_that_a_product_requires_can_be_read(product: str) -> None:
    """What the importer wrote down is what a profile's file may hold."""
    found = benchmark_ids.controls(product)
    assert len(found) > 150
    for name in found[:: len(found) // 20]:  # a sample: reading one takes some milliseconds
        assert catalogue.load(f"{product}:{name}").controls
