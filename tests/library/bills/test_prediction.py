"""What is expected of a profile's rules is what the measured guest's auditctl makes of them."""

from __future__ import annotations

from dataclasses import replace

from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.rule import Place, Rule
from hardcost.cli.expected import of_profile
from hardcost.controls.control import AuditRule, Profile

DEBIAN = Constants.of_debian()
DEBIAN_13 = replace(DEBIAN, about={**DEBIAN.about, "auditd": "1:4.0.2-2+deb13u1"})
OTHER = "-a always,exit -F arch=b64 -S mount -k m"
NAMED = "-a always,exit -F arch=b64 -F dir=/etc/x -F perm=x -k x"


def test_auditctl_4_spares_other_calls_a_rule_with_permissions() -> None:
    rules = [Rule(line, Place("my.rules", at)) for at, line in enumerate((OTHER, NAMED), 1)]
    profile = Profile("p", "", "", tuple(map(AuditRule, rules)))
    earlier, later = (
        of_profile(profile, constants)["my.rules:2"].costs["null"]
        for constants in (DEBIAN, DEBIAN_13)
    )
    assert later == DEBIAN.walk["unnamed"]
    assert earlier > 3 * later
