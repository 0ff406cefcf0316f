from __future__ import annotations

import pytest

from auditrules.model.rule import Rule
from hardcost.controls.control import Profile
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.plan.leave_one_out import plain_name
from hardcost.profiles.settings import Settings, profile_of, with_settings

RULE = AuditRule(Rule("-a never,task"))
PROFILE = Profile("p", "Mine", "s", (AuditDaemon(99), RULE, Sysctl("kernel.x", "1")), ("a note",))


def test_settings_by_themselves_are_a_profile() -> None:
    settings = Settings(("kernel.x=1", "net/core/y=2 3"), ("init_on_alloc=1",), "enforcing")
    found = profile_of(settings)
    assert found.controls == (
        Sysctl("kernel.x", "1"),
        Sysctl("net/core/y", "2 3"),
        BootParameter("init_on_alloc=1"),
        Lsm("enforcing"),
    )
    assert found.name == "kernel.x=1 net/core/y=2 3 init_on_alloc=1 lsm=enforcing"
    many = profile_of(Settings(tuple(f"kernel.name{n}=1" for n in range(99))))
    assert len(plain_name(many)) < 80  # it is part of a file's name


def test_settings_are_added_to_a_profile_and_hold_against_its_own() -> None:
    found = with_settings(PROFILE, Settings(("kernel/x=2",), ("quiet",)))
    assert found.controls == (
        AuditDaemon(99),
        RULE,
        Sysctl("kernel/x", "2"),
        BootParameter("quiet"),
    )
    assert (found.name, found.notes) == ("p kernel/x=2 quiet", ("a note",))
    assert found.title == "Mine, with kernel/x=2 and quiet"


def test_all_that_is_wrong_is_reported_at_once() -> None:
    with pytest.raises(InputError) as raised:
        profile_of(Settings(("kernel.x", "kernel.*=1"), ("a b",)))
    said = [problem.message for problem in raised.value.problems]
    assert [one.partition(":")[0] for one in said] == ["`sysctls`", "`sysctls`", "`boots`"]
