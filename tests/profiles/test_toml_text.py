"""Any part of a profile, written from its pieces and read back, has just the chosen controls."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditrules.model.rule import Rule
from hardcost.controls.control import Control, Profile, requirements_of
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.facts import steady
from hardcost.mechanisms.fapolicyd import Fapolicyd
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.scanner import Scanner
from hardcost.mechanisms.service import Service
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles import catalogue
from hardcost.profiles.toml_text import pieces
from hardcost.toml.write import joined

FIXED: tuple[Control, ...] = (
    AuditDaemon(64, ("--backlog_wait_time 60000",), tolerant=True),
    Kernel("lean", patches=("flat",)),
)
CHOSEN: tuple[Control, ...] = (
    AuditRule(Rule('-a always,exit -F arch=b64 -S open -F key="a"')),
    AuditRule(Rule("-w /etc/pass\\wd -p wa -k identity"), ids=("RHEL-09-2",), severity="medium"),
    Sysctl("kernel.kptr_restrict", "2", ids=("CCE-1",), severity="high"),
    Sysctl("net/ipv4/conf/eth0.1/forwarding", "0"),
    Sysctl("kernel.core_pattern", '|/bin/false "%p" #'),
    BootParameter("init_on_alloc=1"),
    BootParameter('dyndbg="file a.c +p"', ids=("RHEL-09-1", "{{ '\"' }}")),
    Auditd("sync", 20, (("max_log_file", "8"),)),
    AuditPlugin("syslog"),
    AuditPlugin("af_unix"),
    Rsyslog(forward=True),
    Fapolicyd("restrictive", "sha256"),
    Scanner(("/srv",), prevention=False, signatures=7),
    MountOptions("/tmp", ("noexec", "nosuid")),  # noqa: S108  (a mount point, not a file)
    MountOptions("/dev/shm", ("nodev",)),  # noqa: S108  (as above)
    Service("rsyslog.service", running=False),
    Service("a@b.service", files=(("/etc/a-b.conf", 'x = "1"\n'),)),
    Lsm("enforcing"),
    KernelOption("SLUB_DEBUG_ON", "y"),
    KernelOption("MODULES", "n"),
    KernelOption("LSM", "landlock,yama"),
)
WHOLE = Profile("p", 'a "title"\n{{ x }}', "", FIXED + CHOSEN)


@given(st.sets(st.sampled_from(CHOSEN)))
def test_the_pieces_of_a_choice_are_a_profile_of_just_that(
    tmp_path_factory: pytest.TempPathFactory, chosen: set[Control]
) -> None:
    chosen |= {need for one in chosen for need in requirements_of(one, CHOSEN)}
    file = tmp_path_factory.mktemp("choice") / "choice.toml"
    read = written(file, WHOLE, chosen)
    assert {*names(read.controls)} == {*names(FIXED), *names(tuple(chosen))}
    assert set(read.controls) >= {one for one in chosen if not isinstance(one, AuditRule)}
    assert set(read.controls) >= set(FIXED)
    rules = [one.name for one in read.controls if isinstance(one, AuditRule)]
    assert rules == [one.name for one in CHOSEN if isinstance(one, AuditRule) and one in chosen]
    called = {one.name: (one.ids, one.severity) for one in read.controls}
    assert all(set(one.ids) <= set(called[one.name][0]) for one in chosen)
    assert all(one.severity == called[one.name][1] for one in chosen)


def test_a_profile_on_a_kernel_that_exists_comes_back(tmp_path: Path) -> None:
    word, image = BootParameter("init_on_alloc=1"), tmp_path / "kernel.deb"
    image.write_text("")
    for name in ("debian:6.12", "host", str(image)):
        controls = (word, Kernel(name, shipped=True))
        profile = Profile("p", "t", "", controls)
        assert written(tmp_path / "whole.toml", profile, controls).controls == controls


@pytest.mark.parametrize("name", ["stig-reduced", "kspp", "userspace-hardening"])
def test_a_profile_of_the_catalogue_comes_back(tmp_path: Path, name: str) -> None:
    profile = catalogue.load(name)
    read = written(tmp_path / "whole.toml", profile, profile.controls)
    assert names(read.controls) == names(profile.controls)
    assert steady(read.controls)[0] == steady(profile.controls)[0]


def test_a_part_is_billed_in_the_guest_of_the_whole(tmp_path: Path) -> None:
    profile = catalogue.load("stig-reduced")
    daemon, *rules = steady(profile.controls)
    part = written(tmp_path / "part.toml", profile, tuple(rules[:1]))
    assert steady(part.controls)[0] == daemon
    again = written(tmp_path / "again.toml", part, tuple(rules[:1]))
    assert again.controls[0] == daemon


def written(file: Path, profile: Profile, chosen: set[Control] | tuple[Control, ...]) -> Profile:
    file.write_text(joined(pieces(profile), {one.name for one in chosen}), encoding="utf-8")
    return catalogue.load(str(file))


def names(controls: tuple[Control, ...]) -> list[str]:
    return [one.name for one in controls]
