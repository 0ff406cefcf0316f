from __future__ import annotations

from collections.abc import Sequence

import pytest

from auditrules.load import watched_paths
from auditrules.model.rule import Rule
from hardcost.controls.control import Profile
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.facts import steady
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.placebo import Placebo
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.workload import Workload
from hardcost.plan import leave_one_out
from hardcost.plan.leave_one_out import bill_plan
from hardcost.plan.plan import Plan

WATCH = AuditRule(Rule("-w /etc/x -k a", watched_files=("/etc/x",)))
NEVER = AuditRule(Rule("-a never,task"))
OPEN = AuditRule(Rule("-a always,exit -S open -k a -F key=b", key="a"))
RESTRICT = Sysctl("kernel.x", "1")
QUIET = BootParameter("quiet")
DAEMON = AuditDaemon(99)
PROFILE = Profile(
    "/srv/my rules.d/", "Mine", "", (DAEMON, WATCH, NEVER, OPEN, RESTRICT, QUIET), ("a note",)
)
SYSCALLS = (Workload("syscalls"),)


def names(plan: Plan) -> dict[str, list[str]]:
    return {one.name: [control.name for control in one.controls] for one in plan.configurations}


def test_each_control_is_left_out_once_and_alone_once() -> None:
    rules = [control.name for control in PROFILE.controls]
    found = names(bill_plan(PROFILE, SYSCALLS))
    assert list(found) == [
        "baseline",
        "profile",
        "audit-off",
        *(f"{kind}:{index}" for index in range(1, 6) for kind in ("without", "alone")),
        *(f"idle-rules:{number}" for number in range(3)),
        "fired",
    ]
    assert (found["baseline"], found["profile"], found["audit-off"]) == (
        ["auditd"],
        rules,
        ["audit=0"],
    )
    for index in range(1, 6):
        assert found[f"without:{index}"] == rules[:index] + rules[index + 1 :]
        assert found[f"alone:{index}"] == ["auditd", rules[index]]


def test_idle_rules_take_the_place_of_those_that_any_price_is_paid_for() -> None:
    found = names(bill_plan(PROFILE, SYSCALLS))
    kept = ["auditd", "-a never,task", "kernel.x=1", "quiet"]
    assert found["idle-rules:0"] == kept
    first, second = found["idle-rules:2"][len(kept) :]
    assert found["idle-rules:1"] == [*kept, first]
    assert first != second


@pytest.mark.parametrize("text", ["-a never,user", "-a always,exclude -F msgtype=CWD"])
def test_without_a_rule_on_the_exit_list_there_are_no_idle_ones(text: str) -> None:
    profile = Profile("p", "", "", (DAEMON, AuditRule(Rule(text)), RESTRICT))
    assert not any("idle" in name for name in names(bill_plan(profile, SYSCALLS)))


def test_a_machine_that_runs_already_is_not_booted_for_its_bill() -> None:
    controls = tuple(one for one in PROFILE.controls if one is not QUIET)
    profile = Profile("p", "", "", controls)
    plan = bill_plan(profile, SYSCALLS, instrument="time", placebos=8, running=True)
    found = {one.name: one.controls for one in plan.configurations}
    (off,) = found["audit-off"]
    assert isinstance(off, AuditDaemon)
    assert (off.options, off.files) == (("-e 0",), ("/etc/x",))
    assert "fired" not in found
    kinds = {one.kind for some in found.values() for one in some if isinstance(one, Placebo)}
    assert kinds == {"sysctl", "rule"}
    services = bill_plan(Profile("p", "", "", (Rsyslog(),)), SYSCALLS, placebos=2, running=True)
    assert {
        one.kind
        for some in services.configurations
        for one in some.controls
        if isinstance(one, Placebo)
    } == {"sysctl"}


def test_a_plug_in_is_never_without_its_daemon() -> None:
    controls = (DAEMON, Auditd(), AuditPlugin("syslog"), Rsyslog())
    plan = bill_plan(Profile("p", "", "", controls), SYSCALLS)
    found = names(plan)
    assert found["without:1"] == ["auditd", "rsyslog.service"]
    assert found["alone:2"] == ["auditd", "auditd.service", "auditd plug-in syslog"]
    assert "auditd plug-in syslog is left out together with auditd.service" in " ".join(plan.notes)


def test_a_security_module_is_left_out_for_none() -> None:
    found = names(bill_plan(Profile("p", "", "", (Lsm("enforcing"), QUIET)), SYSCALLS))
    assert found == {
        "baseline": ["lsm=none"],
        "profile": ["lsm=enforcing", "quiet"],
        "without:0": ["quiet", "lsm=none"],
        "alone:0": ["lsm=enforcing"],
        "without:1": ["lsm=enforcing"],
        "alone:1": ["quiet", "lsm=none"],
    }


def test_the_rules_that_fire_are_reported_by_their_keys() -> None:
    found = names(bill_plan(PROFILE, SYSCALLS))["fired"]
    assert found == [
        "auditd",
        "-w /etc/x -k hardcost-1",
        "-a never,task",
        "-a always,exit -S open -k hardcost-3",
        "kernel.x=1",
        "quiet",
    ]
    assert leave_one_out.index_of("hardcost-3") == 3
    assert [leave_one_out.index_of(key) for key in ("", "a", "hardcost-", "hardcost-x")] == [
        None
    ] * 4


def test_what_a_rule_watches_is_there_in_every_configuration_with_audit() -> None:
    for configuration in bill_plan(PROFILE, SYSCALLS).configurations:
        if configuration.name != "audit-off":
            assert AuditDaemon(99, files=("/etc/x",)) in configuration.controls


def test_the_counting_trial_comes_once_for_each_workload() -> None:
    workloads = (Workload("syscalls"), Workload("syscalls", (("calls", "open"),)))
    plan = bill_plan(PROFILE, workloads, instrument="time", seeds=(1, 2), repetitions=3)
    fired = [trial for trial in plan.trials if trial.configuration.name == "fired"]
    assert [(trial.workload, trial.seed, trial.repetition) for trial in fired] == [
        (workloads[0], 1, 0),
        (workloads[1], 1, 0),
    ]
    assert len(plan.trials) == 16 * 2 * 2 * 3 + 2


def test_a_profile_without_audit_has_neither_daemon_nor_counts() -> None:
    plan = bill_plan(Profile("p", "", "", (RESTRICT, QUIET)), SYSCALLS)
    assert names(plan) == {
        "baseline": [],
        "profile": ["kernel.x=1", "quiet"],
        "without:0": ["quiet"],
        "alone:0": ["kernel.x=1"],
        "without:1": ["kernel.x=1"],
        "alone:1": ["quiet"],
    }
    (note,) = plan.notes
    assert "5 perturbations" in note  # of the calls that move


def test_a_run_is_called_by_the_profile_without_its_folder() -> None:
    plan = bill_plan(PROFILE, SYSCALLS)
    assert (plan.study, plan.title, str(plan.baseline)) == ("bill-my-rules.d", "Mine", "baseline")
    assert (plan.instrument, {trial.seed for trial in plan.trials}) == ("insn", {0})
    assert plan.notes[0] == "a note"
    assert "inode number" in plan.notes[1]


def test_too_many_controls_to_be_measured_singly_are_reported_with_what_it_would_take() -> None:
    boots = tuple(BootParameter(f"p{number}") for number in range(1001))
    with pytest.raises(InputError, match=r"1001 controls .* about 6006 trials") as caught:
        bill_plan(Profile("x", "X", "", boots), SYSCALLS, seeds=(1, 2, 3))
    assert "`method` search" in str(caught.value.problems[0].hint)


def test_audits_daemon_does_not_count_among_a_thousand_controls() -> None:
    rules = (AuditRule(Rule(f"-w /etc/{number}")) for number in range(1000))
    plan = bill_plan(Profile("x", "X", "", (DAEMON, *rules)), SYSCALLS)
    assert len(plan.configurations) > 2000


def test_what_rules_watch_is_gathered_once_for_all_controls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []
    real = watched_paths.paths

    def counted(
        rules: Sequence[Rule], *more: Sequence[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        asked.append(rules)
        return real(rules, *more)

    monkeypatch.setattr(watched_paths, "paths", counted)
    steady(PROFILE.controls)
    assert len(asked) == 1
