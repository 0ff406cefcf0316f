"""The predictions of a profile's rules: by which constants, and for the guest's own auditctl."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from auditrules.cost.constants import Constants
from auditrules.model.location import Location
from auditrules.model.rule import Rule
from hardcost.controls.control import Profile
from hardcost.library.bills.prediction import constants_for, of_profile
from hardcost.library.measurement import Measuring
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.workload import MetricId
from hardcost.protocol.boot import Boot
from tests.fakes.guest import answers
from tests.fakes.machine import FakeMachine

DEBIAN = Constants.of_debian()
DEBIAN_13 = replace(DEBIAN, about={**DEBIAN.about, "auditd": "1:4.0.2-2+deb13u1"})
OTHER = "-a always,exit -F arch=b64 -S mount -k m"
NAMED = "-a always,exit -F arch=b64 -F dir=/etc/x -F perm=x -k x"


@pytest.mark.parametrize(
    ("kernel", "expected", "noted"),
    [
        (DEBIAN.about["kernel"], DEBIAN, ()),
        ("6.1.0-999-amd64", DEBIAN, ("costs on kernel 6.1.0-999-amd64 are predicted with",)),
        ("6.1.0-999-cloud-amd64", None, ("no costs are predicted:",)),
    ],
)
def test_a_bill_is_predicted_for_any_release_of_the_series_of_its_constants(
    kernel: str,
    expected: Constants | None,
    noted: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path))

    class Guest(FakeMachine):
        def environment(self, boot: Boot) -> dict[str, str]:
            return {**super().environment(boot), **DEBIAN.about, "kernel": kernel}

    guest = Guest(answers)
    constants, notes = constants_for(guest, Measuring(), guest.environment(Boot()))
    assert constants == expected
    assert len(notes) == len(noted)
    assert all(note.startswith(start) for note, start in zip(notes, noted, strict=True))


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
