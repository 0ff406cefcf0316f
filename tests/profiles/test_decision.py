"""Decisions: what is kept as a profile, what is given up as tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditrules.model.rule import Rule
from hardcost.controls.control import Profile
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.fapolicyd import Fapolicyd
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.placebo import Placebo
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.scanner import Scanner
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles import catalogue, decision
from hardcost.profiles.decision import Decision
from hardcost.profiles.decision_entry import GivenUp
from tests.profiles.decision_files import comparable, there_and_back, without_packages

EVERYTHING = (
    AuditDaemon(64, ("--backlog_wait_time 60000",), tolerant=True),
    AuditRule(Rule("-w /etc/passwd -p wa -k identity", None), ids=("RHEL-09-654220",)),
    AuditRule(Rule("-a always,exit -F arch=b64 -S chmod -k x", None)),
    Sysctl("kernel.kptr_restrict", "1", ids=("CCE-1",)),
    Sysctl("net/ipv4/conf/eth0.1/forwarding", "0"),
    BootParameter('x="a b"', ids=("CCE-2", "SRG-OS-1")),
    Lsm("enforcing", ids=("CCE-84079-3",)),
    MountOptions("/home", ("noexec", "nosuid")),
    Auditd("sync", 100, (("num_logs", "5"),), ids=("CCE-90829-3",)),
    AuditPlugin("syslog", ids=("RHEL-09-652035",)),
    Rsyslog(forward=True, rate_limit=True, burst=9, interval=30, ids=("CCE-83989-4",)),
    Fapolicyd("restrictive", "sha256", ids=("a",)),
    Scanner(("/srv",), prevention=False, signatures=7, ids=("b",)),
    Kernel("lean", tolerant=True, patches=("flat",)),
    KernelOption("SLUB_DEBUG_ON", "y", ids=("CCE-3",)),
    KernelOption("CMDLINE", "a b"),
)
HOSTILE = st.text(max_size=30).filter(bool)


def test_every_kind_of_control_comes_back_as_it_was(tmp_path: Path) -> None:
    profile = Profile("p", "a title", "a source", EVERYTHING, ("a note",))
    back = there_and_back(Decision(profile, ()), tmp_path)
    assert comparable(back.kept.controls) == comparable(EVERYTHING)
    assert (back.kept.title, back.kept.source) == ("a title", "a source")
    assert "a note" in back.kept.notes


def test_profiles_of_the_catalogue_come_back_as_they_were(tmp_path: Path) -> None:
    # Those that need a package are tried in tests/vm/test_decision_exports.py.
    own = [profile for profile in map(without_packages, catalogue.names()) if profile is not None]
    assert len(own) >= 10
    for profile in own:
        back = there_and_back(Decision(profile, ()), tmp_path)
        assert comparable(back.kept.controls) == comparable(profile.controls)


@given(
    control=HOSTILE,
    names=st.lists(st.text(max_size=20), max_size=3),
    words=st.text(max_size=30),
    cost=st.floats(allow_nan=False, allow_infinity=False),
)
def test_what_is_given_up_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory,
    control: str,
    names: list[str],
    words: str,
    cost: float,
) -> None:
    one = GivenUp(
        control=control,
        ids=tuple(names),
        severity="high",
        metric=words,
        cost=cost,
        reason=words,
        place=words,
        stands_for=tuple(names),
    )
    kept = Profile("p", "t", "", (BootParameter("a"),))
    back = there_and_back(Decision(kept, (one, one)), tmp_path_factory.mktemp("d"))
    assert back.given_up == (one, one)


def test_any_verb_takes_a_decision_for_the_profile_of_what_is_kept(tmp_path: Path) -> None:
    kept = Profile("p", "t", "", (BootParameter("a"),))
    path = tmp_path / "decision.toml"
    path.write_text(decision.decision_text(Decision(kept, (GivenUp(control="b"),))))
    assert catalogue.load(str(path)).controls == (BootParameter("a"),)


def test_a_mistake_in_what_is_given_up_is_reported_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "decision.toml"
    path.write_text('boot = ["a"]\n[[given_up]]\ncontrol = "b"\nseverity = "grave"\ncosts = 1\n')
    with pytest.raises(InputError) as raised:
        decision.read_decision(path)
    assert {str(one.place) for one in raised.value.problems} == {f"{path}:4", f"{path}:5"}


def test_what_has_no_key_in_a_profile_is_refused() -> None:
    kept = Profile("p", "t", "", (Placebo("boot", 0),))
    with pytest.raises(InputError, match="can't be written"):
        decision.decision_text(Decision(kept, ()))


def test_a_file_of_rules_is_no_decision() -> None:
    with pytest.raises(InputError, match="is no decision"):
        decision.read_decision(Path("my.rules"))
