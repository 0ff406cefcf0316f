from __future__ import annotations

import pytest

from hardcost.controls.control import Profile
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.mechanisms.auditd import Auditd
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.workload import Workload
from hardcost.plan.search import culprits
from hardcost.plan.search.questions import Question

OPTIONS = tuple(KernelOption(name, "y") for name in ("A", "B", "C"))
PROFILE = Profile("p", "t", "", (AuditDaemon(), Kernel(), *OPTIONS, BootParameter("quiet")))
WORKLOADS = (Workload("syscalls"), Workload("build"))


def test_the_kernel_and_the_daemon_stay_in_every_configuration() -> None:
    found = culprits.suspects(PROFILE)
    assert found.fixed == (AuditDaemon(), Kernel())
    assert found.problem.names == ("A=y", "B=y", "C=y", "quiet")
    assert culprits.configuration(found, (1,)).controls == (AuditDaemon(), Kernel(), OPTIONS[1])


def test_what_an_option_requires_is_known_by_its_place() -> None:
    a, _, c = OPTIONS
    d, elsewhere = KernelOption("D", "y"), KernelOption("ELSEWHERE", "y")
    found = culprits.suspects(PROFILE, {c: frozenset({a, elsewhere}), d: frozenset({a})})
    assert found.problem.requires == {2: frozenset({0})}


def test_a_split_is_preferred_where_a_group_ends() -> None:
    assert culprits.suspects(PROFILE).problem.marks == (3,)
    by_letter = culprits.suspects(PROFILE, group_of=lambda one: one.name[:1])
    assert by_letter.problem.marks == (1, 2, 3)


@pytest.mark.parametrize(
    ("on", "name"),
    [
        ((), "baseline"),
        (tuple(range(9)), "profile"),
        ((4,), "alone:4"),
        ((0, 1, 2), "with:0-2"),
        ((0, 2, 3, 4, 5, 6, 7, 8), "without:1"),
        ((0, 3, 5, 6, 7, 8), "without:1-2+4"),
        ((1, 3, 4), "with:1+3-4"),
    ],
)
def test_a_configuration_is_named_by_what_is_on_or_off(on: tuple[int, ...], name: str) -> None:
    assert str(culprits.role_with(on, 9)) == name


def test_names_tell_all_configurations_apart() -> None:
    sets = [tuple(n for n in range(6) if bits >> n & 1) for bits in range(64)]
    assert len({culprits.role_with(on, 6) for on in sets}) == 64


def test_the_first_trials_are_the_baseline_and_the_whole_profile() -> None:
    plan = culprits.first_plan(PROFILE, culprits.suspects(PROFILE), WORKLOADS)
    assert [(one.configuration.name, one.workload.name) for one in plan.trials] == [
        ("baseline", "syscalls"),
        ("profile", "syscalls"),
        ("baseline", "build"),
        ("profile", "build"),
    ]


def test_a_question_is_answered_by_new_repetitions_with_every_workload() -> None:
    found = culprits.suspects(PROFILE)
    plan = culprits.first_plan(PROFILE, found, WORKLOADS, seeds=(1, 2))
    asked = culprits.plan_of_question(plan, found, Question((1,), 2, "why"), 3)
    assert {one.configuration.name for one in asked.trials} == {"alone:1"}
    assert [one.repetition for one in asked.trials] == [3] * 4 + [4] * 4
    assert len(set(asked.trials)) == 8


def test_a_search_is_worth_it_where_single_trials_would_take_long() -> None:
    options = [KernelOption(f"O{n}", "y") for n in range(75)]
    words = [BootParameter(f"w{n}") for n in range(75)]
    sysctls = [Sysctl(f"kernel.x{n}", "1") for n in range(75)]
    calls, load = (Workload("syscalls"),), (Workload("filecopy"),)
    assert culprits.worth_searching(options, calls)
    assert culprits.worth_searching(words, calls)
    assert not culprits.worth_searching(sysctls, calls)
    assert not culprits.worth_searching([*sysctls, Auditd()], calls)
    assert culprits.worth_searching([*sysctls, Auditd()], load)
    assert not culprits.worth_searching(options[:3], calls)
    assert not culprits.worth_searching(words[:20], calls)
