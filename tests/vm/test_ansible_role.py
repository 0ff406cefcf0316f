"""An exported role, applied twice by Debian's own Ansible: it changes the guest, then nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from auditrules.model.location import Location
from auditrules.read import parse
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.export import ansible
from hardcost.protocol import ask
from tests.mechanisms.test_export import profile
from tests.profiles.export.test_ansible import written
from tests.vm.export_checks import below, said, shell, with_packages

# With two executions of Ansible under emulation it takes minutes.
pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.lengthy]

SECONDS = 3600.0
PACKAGES = (
    "ansible-core",
    "grub-common",
    "grub2-common",
    "gettext-base",
    "libyaml-0-2",
    "python3-apt",
    "python3-jinja2",
    "python3-markupsafe",
    "python3-packaging",
    "python3-resolvelib",
    "python3-yaml",
)
KEY = "{{7*7}}"
CONTROLS = (
    AuditDaemon(4096),
    Sysctl("kernel.kptr_restrict", "2"),
    Sysctl("kernel.core_pattern", "|/bin/false {{ 7 * 7 }}"),
    BootParameter("init_on_alloc=1"),
    Auditd("data", 20, (("name_format", "user"), ("name", KEY))),
    AuditPlugin("syslog"),
    MountOptions("/tmp", ("noexec", "nosuid")),  # noqa: S108  (the guest's)
    Rsyslog(),
)
PLAY = "- hosts: all\n  roles:\n    - first\n"
APPLY = "ansible-playbook -c local -i localhost, /run/play.yml"
RECAP = re.compile(r"ok=\d+ +changed=(\d+) +unreachable=0 +failed=0")
UNITS = ("auditd.service", "rsyslog.service", "syslog.socket")  # which guests mask
UNMASK = f"cd /run/systemd/system; rm {' '.join(UNITS)}"


def changed(output: str) -> int:
    """Return how many tasks changed something, as Ansible says it itself."""
    found = RECAP.search(output)
    assert found is not None, output
    return int(found[1])


def test_the_role_changes_a_debian_guest_once_and_then_nothing(
    cache_root: Path, tmp_path: Path
) -> None:
    rule = parse.read_line(f"-w /etc/passwd -p wa -k {KEY}", Location("x", 1)).rule
    assert rule is not None
    made = ansible.role_of(profile(*CONTROLS, AuditRule(rule)), "first")
    assert not made.left
    apply = f"ANSIBLE_PIPELINING=true ANSIBLE_NOCOLOR=true {APPLY}"
    found = said(
        cache_root,
        [
            *with_packages(cache_root, PACKAGES),
            *below(written(made, tmp_path), "/etc/ansible/roles/first"),
            ask.install("/run/play.yml", PLAY),
            ask.install("/etc/fstab", "tmpfs /tmp tmpfs defaults 0 0\n"),
            ask.install("/etc/default/grub", "GRUB_CMDLINE_LINUX=quiet\n"),
            ask.install("/boot/vmlinuz-6.1.0-1-amd64", "a kernel"),
            ask.make(["/boot/grub"]),
            # The menu's head takes fonts and modules, which this guest has not.
            shell("menu-parts", "chmod -x /etc/grub.d/*; chmod +x /etc/grub.d/10_linux"),
            shell("unmask", f"{UNMASK}; systemctl daemon-reload"),
            shell("first", apply, limit_seconds=SECONDS),
            shell("second", apply, limit_seconds=SECONDS),
            shell("rules", "auditctl -l"),
            shell("status", "auditctl -s"),
            shell("sysctls", "sysctl -n kernel.kptr_restrict kernel.core_pattern"),
            shell("auditd", "grep -E '^(flush|freq|name|name_format) ' /etc/audit/auditd.conf"),
            shell("plugin", "grep ^active /etc/audit/plugins.d/syslog.conf"),
            shell("active", "systemctl is-active auditd rsyslog"),
            shell("mount", "cat /etc/fstab; findmnt -no OPTIONS /tmp"),
            shell("menu", "grep -m 1 '^[[:space:]]*linux' /boot/grub/grub.cfg"),
        ],
        init="systemd",
        limit_seconds=SECONDS,
    )
    assert changed(found["first"]) > len(CONTROLS)
    assert changed(found["second"]) == 0
    assert found["rules"].splitlines() == [f"-w /etc/passwd -p wa -k {KEY}"]
    assert "backlog_limit 4096" in found["status"]
    assert found["sysctls"].splitlines() == ["2", "|/bin/false {{ 7 * 7 }}"]
    assert sorted(found["auditd"].splitlines()) == [
        *("flush = DATA", "freq = 20", f"name = {KEY}", "name_format = user"),
    ]
    assert found["plugin"].split() == ["active", "=", "yes"]
    assert found["active"].split() == ["active", "active"]
    table, in_force = found["mount"].splitlines()
    assert table.split()[2:] == ["tmpfs", "defaults,noexec,nosuid", "0", "0"]
    assert {"noexec", "nosuid"} <= set(in_force.split(","))
    assert found["menu"].split()[-2:] == ["quiet", "init_on_alloc=1"]
