"""Audit rules of a profile in a cheaper form."""

from __future__ import annotations

from pathlib import Path

from auditrules.auditctl.translate import Target
from auditrules.load.load import load_rules
from auditrules.load.target import NOWHERE
from auditrules.model.rule import Rule
from auditrules.prove.prove import prove_equal
from hardcost.controls.control import Profile
from hardcost.mechanisms.audit import AuditRule
from hardcost.profiles import catalogue
from hardcost.profiles.cheaper_rules import SCANNERS, with_cheaper_rules

DEAR = """\
-a always,exit -F arch=b64 -S chmod -F auid>=1000 -F auid!=unset -k modes
-a always,exit -F arch=b64 -S fchmod -F auid>=1000 -F auid!=unset -k modes
-a always,exit -F arch=b64 -S fchmodat -F auid>=1000 -F auid!=unset -k modes
-a always,exit -F arch=b64 -S mount -F auid>=1000 -F auid!=unset -k mounts
"""


def profile(folder: Path, text: str) -> Profile:
    path = folder / "my.rules"
    path.write_text(text)
    return catalogue.load(str(path))


def target(of: Profile) -> Target:
    return NOWHERE.likely_target(rules(of))


def rules(of: Profile) -> list[Rule]:
    return [one.rule for one in of.controls if isinstance(one, AuditRule)]


def test_rules_of_one_kind_become_one_that_stands_for_all(tmp_path: Path) -> None:
    original = profile(tmp_path, DEAR)
    found = with_cheaper_rules(original, target(original))
    assert len(rules(found.profile)) < len(rules(original))
    assert SCANNERS in found.said
    stood_for = [it for one in found.profile.controls for it in found.originals(one)]
    assert sorted(one.name for one in stood_for) == sorted(one.name for one in original.controls)


def test_the_cheaper_rules_are_proved_to_record_the_same(tmp_path: Path) -> None:
    original = profile(tmp_path, DEAR)
    found = with_cheaper_rules(original, target(original)).profile
    before = load_rules(rules(original), target(original)).rules
    after = load_rules(rules(found), target(found)).rules
    assert prove_equal(before, after).equal


def test_rules_that_can_t_cost_less_stay_as_they_are(tmp_path: Path) -> None:
    original = profile(tmp_path, DEAR.splitlines()[0] + "\n")
    found = with_cheaper_rules(original, target(original))
    assert found.profile == original
    assert not found.said


def test_a_profile_without_rules_stays_as_it_is() -> None:
    original = catalogue.load("kernel.kptr_restrict=1")
    assert with_cheaper_rules(original, target(original)).profile == original
