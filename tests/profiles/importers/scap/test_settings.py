from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.mechanisms.auditd import Auditd
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.importers.scap.settings import RequiredSettings, settings_of

XCCDF = "http://checklists.nist.gov/xccdf/1.2"
MOUNT = """\
    mount_point_match_regexp="$(printf "[[:space:]]%s[[:space:]]" {path})"
    echo " {path}  defaults,${{previous_mount_opts}}{option} 0 0" &gt;&gt; /etc/fstab
"""
CONF = 'printf \'%s\\n\' "{line}" &gt;&gt; "/etc/audit/auditd.conf"\n'
LONG = """\
var='{value}'
stripped_key=$(sed 's/x//g' &lt;&lt;&lt; "^{key}")
printf -v formatted_output "%s = %s" "$stripped_key" "$var"
"""


def rule(name: str, script: str, *idents: str) -> str:
    marks = "".join(f"<ident>{ident}</ident>" for ident in idents)
    fix = f'<fix system="urn:xccdf:fix:script:sh">{script}</fix>' if script else ""
    return f'<Rule id="xccdf_a.b_rule_{name}" selected="true">{marks}{fix}</Rule>'


def settings(folder: Path, *rules: str) -> RequiredSettings:
    path = folder / "ds.xml"
    path.write_text(
        f'<Benchmark xmlns="{XCCDF}" id="b"><Profile id="xccdf_a.b_profile_p"><title>P</title>'
        f"</Profile>{''.join(rules)}</Benchmark>"
    )
    return settings_of(path, "p")


def test_sysctls_are_taken_with_their_values_and_ids(tmp_path: Path) -> None:
    script = "v='1'\n/sbin/sysctl -q -n -w kernel.x=\"$v\"\n"
    found = settings(tmp_path, rule("sysctl_kernel_x", script, "CCE-1234-5", "what it is not"))
    assert found.sysctls == [Sysctl("kernel.x", "1")]
    assert found.sysctls[0].ids == ("sysctl_kernel_x", "CCE-1234-5")
    assert found.notes == []


def test_boot_parameters_are_words(tmp_path: Path) -> None:
    script = "v='P'\ngrubby --update-kernel=ALL --args=slub_debug=$v\n"
    other = 'grubby --update-kernel=ALL --args="a=1 b=2"\n'
    found = settings(tmp_path, rule("grub2_slub", script), rule("grub2_ab", other))
    assert found.boots == [BootParameter(word) for word in ("slub_debug=P", "a=1", "b=2")]


def test_a_mount_is_found_also_where_the_script_passes_over_comments(tmp_path: Path) -> None:
    script = MOUNT.replace('"[[:space:]]%s', '"^[[:space:]]*[^#].*[[:space:]]%s')
    text = script.format(path='"/tmp"', option="nodev")  # as in SCAP Security Guide 0.1.76
    found = settings(tmp_path, rule("mount_option_tmp_nodev", text))
    assert found.notes == []
    assert [one.name for one in found.system] == ["mount /tmp nodev"]


def test_options_of_a_mount_come_together_and_in_the_order_of_directories(tmp_path: Path) -> None:
    rules = [
        rule(f"mount_option_{n}", MOUNT.format(path=path, option=option), f"CCE-{n}-1")
        for n, (path, option) in enumerate(
            [("/var", "nodev"), ("/home", "nosuid"), ("/home", "noexec")], 10
        )
    ]
    found = settings(tmp_path, *rules)
    assert found.system == [
        MountOptions("/home", ("noexec", "nosuid")),
        MountOptions("/var", ("nodev",)),
    ]
    assert set(found.system[0].ids) >= {"CCE-11-1", "CCE-12-1"}


def test_lines_of_auditd_conf_go_to_a_daemon_that_is_asked_for(tmp_path: Path) -> None:
    rules = (
        rule("auditd_freq", CONF.format(line="freq = 7")),
        rule("auditd_long", LONG.format(key="space_left_action", value="email")),
    )
    daemon = rule("service_auditd_enabled", "systemctl enable auditd", "CCE-9-9")
    assert settings(tmp_path, *rules, daemon).system == [
        Auditd(freq=7, settings=(("space_left_action", "email"),))
    ]
    without = settings(tmp_path, *rules)
    assert without.system == []
    assert without.notes == ["auditd_freq, auditd_long left out: nothing requires auditd to run"]


@pytest.mark.parametrize("mode", ["enforcing", "permissive"])
def test_selinuxs_state_is_taken(tmp_path: Path, mode: str) -> None:
    script = f"v='{mode}'\nprintf '%s\\n' \"SELINUX=$v\" &gt;&gt; \"/etc/selinux/config\"\n"
    (found,) = settings(tmp_path, rule("selinux_state", script)).system
    assert isinstance(found, Lsm)
    assert found.mode == mode


@pytest.mark.parametrize(
    ("name", "script", "why"),
    [
        ("sysctl_x", "", "it has no script with its settings"),
        ("sysctl_x", "true", "its script sets neither a sysctl nor a boot parameter"),
        ("sysctl_x", "sysctl -q -n -w kernel.x=$(date)", "computes the value when it runs"),
        ("sysctl_x", "sysctl -q -n -w a/../../b=1", "leaves /proc/sys"),
        ("grub2_x", "grubby --update-kernel=ALL --args=a=$b", "computes the value when it runs"),
        ("auditd_x", "true", "writes nothing to auditd.conf that can be read"),
        ("auditd_x", CONF.format(line="x = HALT"), "x = HALT would end the guest"),
        ("auditd_x", CONF.format(line="x = $y"), "computes the value when it runs"),
        ("mount_option_x", "true", "about mounts that the guest doesn't have"),
        ("mount_option_x", MOUNT.format(path="/boot", option="nodev"), "is in /boot"),
        (
            "mount_option_x",
            MOUNT.format(path="/home", option="usrquota"),
            "usrquota is not a mount option",
        ),
        (
            "selinux_state",
            "printf '%s\\n' \"SELINUX=off\" &gt;&gt; x",
            "SELinux has no state off here",
        ),
    ],
)
def test_what_can_not_be_taken_is_left_out_and_told(
    tmp_path: Path, name: str, script: str, why: str
) -> None:
    found = settings(tmp_path, rule(name, script))
    assert [found.sysctls, found.boots, found.system] == [[], [], []]
    (note,) = found.notes
    assert note.startswith(f"{name} left out: ")
    assert why in note


def test_rules_about_other_things_are_counted(tmp_path: Path) -> None:
    audit = rule("audit_rules_x", 'echo "-w /x" &gt;&gt; /etc/audit/rules.d/x.rules')
    found = settings(tmp_path, rule("package_x", "yum install x"), rule("banner", ""), audit)
    (note,) = found.notes
    assert note.startswith("2 of its rules are about other things")
