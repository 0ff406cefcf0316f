"""What is expected of a profile's rules is what the measured guest's auditctl makes of them."""

from __future__ import annotations

from dataclasses import replace

from auditrules.cost.constants import Constants
from auditrules.model.location import Location
from auditrules.model.rule import Rule
from hardcost.controls.control import Profile
from hardcost.library.bills.prediction import of_profile
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.workload import MetricId

DEBIAN = Constants.of_debian()
DEBIAN_13 = replace(DEBIAN, about={**DEBIAN.about, "auditd": "1:4.0.2-2+deb13u1"})
OTHER = "-a always,exit -F arch=b64 -S mount -k m"
NAMED = "-a always,exit -F arch=b64 -F dir=/etc/x -F perm=x -k x"


def test_auditctl_4_spares_other_calls_a_rule_with_permissions() -> None:
    rules = [Rule(line, Location("my.rules", at)) for at, line in enumerate((OTHER, NAMED), 1)]
    profile = Profile("p", "", "", tuple(map(AuditRule, rules)))
    earlier, later = (
        of_profile(profile, constants)[NAMED].costs[MetricId("null")]
        for constants in (DEBIAN, DEBIAN_13)
    )
    assert later == DEBIAN.walk["unnamed"]
    assert earlier > 3 * later


def test_rules_on_one_line_of_a_file_are_told_apart() -> None:
    rules = [Rule(line, Location("p.toml", 3)) for line in (OTHER, NAMED)]
    known = of_profile(Profile("p", "", "", tuple(map(AuditRule, rules))), DEBIAN)
    assert known[OTHER].costs[MetricId("null")] < known[NAMED].costs[MetricId("null")]
    assert known[OTHER].findings != known[NAMED].findings
