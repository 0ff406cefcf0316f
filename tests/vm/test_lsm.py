"""Security modules and mount options in a Debian guest, and that what did not take is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.model.rule import Rule
from hardcost.errors import TrialError
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.protocol import ask
from tests.vm.controls_applied import applied, shell

pytestmark = pytest.mark.vm

_ORDINARY = "user_u:user_r:user_t:s0"
"""The context of an ordinary user's programs, which may not read passwords even as root."""


@pytest.mark.slow
def test_none_has_no_major_module(cache_root: Path) -> None:
    found = applied(cache_root, (Lsm("none"),))
    assert found.notes() == ()


def test_apparmor_has_debians_profiles(cache_root: Path) -> None:
    found = applied(cache_root, (Lsm("apparmor"),))
    first, *_ = found.notes()
    assert "/usr/sbin/clamd (enforce)" in first


@pytest.mark.slow
def test_enforcing_refuses_and_permissive_only_tells(cache_root: Path) -> None:
    # What may be read with what label is the policy's matter: a daemon's domain may not read the
    # passwords' file, whoever runs in it.
    work = shell(
        "work",
        "cat /proc/self/attr/current; head -c1 /etc/selinux/default/policy/policy.33 >/dev/null",
        expect=None,
    )
    for mode in ("permissive", "enforcing"):
        found = applied(cache_root, (Lsm(mode),), [work])
        assert ":s0" in found.ran("work").stdout
        assert any(note.startswith(f"lsm={mode}: ") for note in found.notes())


@pytest.mark.slow
@pytest.mark.parametrize(
    "controls",
    [
        (Lsm("enforcing"), BootParameter("lsm=landlock,yama")),
        (Lsm("none"), BootParameter("lsm=apparmor")),
    ],
)
def test_a_module_that_another_boot_parameter_changes_fails_the_trial(
    cache_root: Path, controls: tuple[Lsm, BootParameter]
) -> None:
    found = applied(cache_root, controls)
    with pytest.raises(TrialError, match=f"{controls[0].name} did not take: the kernel runs"):
        found.notes()


@pytest.mark.slow
def test_enforcing_that_ends_in_the_middle_fails_the_trial(cache_root: Path) -> None:
    found = applied(cache_root, (Lsm("enforcing"),), [ask.run("off", ["setenforce", "0"])])
    with pytest.raises(TrialError, match="selinux/enforce is 1, then 0"):
        found.notes()


def test_mount_options_hold(cache_root: Path) -> None:
    controls = (MountOptions("/home", ("nodev", "noexec")), MountOptions("/home/user", ("nosuid",)))
    work = shell("work", "cp /bin/true /home/user/x && /home/user/x", expect=126)
    found = applied(cache_root, controls, [work])
    assert found.notes() == ()
    assert "Permission denied" in found.ran("work").stderr


def test_the_probe_loads_audit_rules_under_enforcing_too(cache_root: Path) -> None:
    rule = AuditRule(Rule("-a always,exit -F arch=b64 -S mkdir -k made"))
    found = applied(cache_root, (AuditDaemon(), rule, Lsm("enforcing")))
    assert any("denials went to the probe" in note for note in found.notes())


@pytest.mark.slow
def test_a_denial_is_counted_in_the_kernels_log(cache_root: Path) -> None:
    reads = ask.run("reads", ["runcon", _ORDINARY, "cat", "/etc/shadow"], expect=None)
    found = applied(cache_root, (Lsm("enforcing"),), [reads, reads])
    (note,) = (one for one in found.notes() if "denials" in one)
    assert "denials in the logs: " in note
    assert "avc:  denied  { " in note
    assert "pid=" not in note
