from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from hardcost.mechanisms.auditd import Auditd
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.accounts import Accounted
from hardcost.profiles import catalogue
from hardcost.profiles.importers.scap import rule_classes
from hardcost.profiles.importers.scap.profile import load_scap_profile
from tests.profiles.importers.scap.test_rules import OFF, PREFIX, file_of, profile, rule, stream

SYSCTL = "/sbin/sysctl -q -n -w kernel.{}={}\n"
AUDIT = rule("audit_a", file_of("a", "-w /a"), attributes='severity="medium"')
CCE = '<x:ident system="https://nvd.nist.gov/cce/index.cfm">CCE-1-1</x:ident>'


def accounted(folder: Path, *rules: str, more: str = "") -> dict[str, Accounted]:
    path = folder / "ds.xml"
    path.write_text(stream(profile("p", more=more), *rules))
    found = load_scap_profile(path, "p").accounting
    return {one.rule: one for one in found}


def test_every_selected_rule_is_accounted_for_once_and_in_order(tmp_path: Path) -> None:
    rules = (
        rule("file_owner_etc_x", "chown 0 /etc/x"),
        AUDIT,
        rule("sysctl_kernel_x", SYSCTL.format("x", 1)),
        rule("sysctl_kernel_y", "true"),
        rule("of_no_known_kind", "true"),
        rule("not_selected", "true", attributes=OFF),
    )
    found = accounted(tmp_path, *rules)
    assert [(one.rule, one.outcome, one.kind) for one in found.values()] == [
        ("file_owner_etc_x", "no-run-time-cost", "file owners and modes"),
        ("audit_a", "priced", "audit"),
        ("sysctl_kernel_x", "priced", "sysctl"),
        ("sysctl_kernel_y", "not-priced", "not imported"),
        ("of_no_known_kind", "not-priced", "unknown kind"),
    ]
    assert found["audit_a"].controls == ("-w /a",)
    assert found["sysctl_kernel_y"].why == "its script sets neither a sysctl nor a boot parameter"


def test_a_rule_carries_its_names_title_and_severity(tmp_path: Path) -> None:
    named = rule("audit_a", file_of("a", "-w /a"), f"<x:title>A</x:title>{CCE}", 'severity="high"')
    one = accounted(tmp_path, named)["audit_a"]
    assert (one.title, one.severity, one.ids) == ("A", "high", ("CCE-1-1",))


def test_a_severity_that_xccdf_does_not_know_is_unknown_and_a_profile_may_refine_it(
    tmp_path: Path,
) -> None:
    refined = f'<x:refine-rule idref="{PREFIX}rule_b" severity="high"/>'
    rules = [rule(name, file_of(name, f"-w /{name}"), attributes='severity="x"') for name in "ab"]
    found = accounted(tmp_path, *rules, more=refined)
    assert {name: one.severity for name, one in found.items()} == {"a": "unknown", "b": "high"}


def test_rules_that_set_one_thing_alike_are_one_control(tmp_path: Path) -> None:
    rules = [rule(f"sysctl_{name}", SYSCTL.format("x", 1)) for name in "ab"]
    found = accounted(tmp_path, *rules)
    assert [one.controls for one in found.values()] == [("kernel.x=1",)] * 2


def test_of_two_values_the_first_is_not_priced(tmp_path: Path) -> None:
    rules = [rule(f"sysctl_{n}", SYSCTL.format("x", n)) for n in (1, 2)]
    first, second = accounted(tmp_path, *rules).values()
    assert (first.outcome, first.why) == ("not-priced", "another rule sets kernel.x=2")
    assert second.controls == ("kernel.x=2",)


def test_services_are_carried_out_by_the_guests_own(tmp_path: Path) -> None:
    wanted = {
        "service_auditd_enabled": "auditd.service",
        "service_fapolicyd_enabled": "fapolicyd.service",
        "service_rsyslog_enabled": "rsyslog.service forward",
        "rsyslog_remote_loghost": "rsyslog.service forward",
        "auditd_audispd_syslog_plugin_activated": "auditd plug-in syslog",
    }
    found = accounted(tmp_path, *(rule(name, "true") for name in wanted))
    assert {name: one.controls for name, one in found.items()} == {
        name: (control,) for name, control in wanted.items()
    }


def test_a_rule_for_another_architecture_is_not_priced(tmp_path: Path) -> None:
    platform = (
        '<cpe:platform-specification><cpe:platform id="arm"><cpe:logical-test operator="AND" '
        'negate="false"><cpe:fact-ref name="cpe:/a:aarch64_arch"/></cpe:logical-test>'
        "</cpe:platform></cpe:platform-specification>"
    )
    other = rule("sysctl_x", SYSCTL.format("x", 1), '<x:platform idref="#arm"/>')
    one = accounted(tmp_path, platform, AUDIT, other)["sysctl_x"]
    assert (one.outcome, one.kind) == ("not-priced", "other machines")


def test_each_class_has_a_reason_and_rules_and_a_cost_that_is_none_or_unknown() -> None:
    kinds = [one.kind for one in rule_classes.classes()]
    assert len(kinds) == len(set(kinds)) > 15
    for one in rule_classes.classes():
        assert one.reason
        assert one.rules
        assert one.cost in {"none", "unknown"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("file_permissions_etc_shadow", "file owners and modes"),
        ("accounts_password_pam_minlen", "passwords and accounts"),
        ("sshd_disable_root_login", "logins over SSH"),
        ("sshd_rekey_limit", "cryptography"),
        ("service_kdump_disabled", "services switched off"),
        ("package_aide_installed", "packages installed"),
        ("package_MFEhiplsm_installed", "scanners"),
        ("xsshd_disable_root_login", None),
        ("", None),
    ],
)
def test_the_first_class_that_names_a_rule_counts(name: str, kind: str | None) -> None:
    found = rule_classes.class_of(name)
    assert (found.kind if found else None) == kind


def test_a_profile_of_ours_takes_all_of_a_datastream_with_its_accounting(tmp_path: Path) -> None:
    rules = (AUDIT, rule("sysctl_kernel_x", SYSCTL.format("x", 1)), rule("banner_x", "true"))
    (tmp_path / "ds.xml").write_text(stream(profile("p"), *rules))
    own = tmp_path / "own.toml"
    own.write_text('auditd = true\n[scap]\nfiles = ["ds.xml"]\nscap-profile = "p"\n')
    loaded = catalogue.load(str(own))
    names = ["auditd", "-w /a", "kernel.x=1", "auditd.service"]
    assert [one.name for one in loaded.controls] == names
    kinds = {type(one): (one.ids[:1], one.severity) for one in loaded.controls}
    assert kinds[Sysctl] == (("sysctl_kernel_x",), "unknown")
    assert not kinds[Auditd][1]
    assert Counter(one.outcome for one in loaded.accounting) == {
        "priced": 2,
        "no-run-time-cost": 1,
    }
