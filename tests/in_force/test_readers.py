"""Each reader finds what a root's files would put in force, with the line that has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.in_force import (
    audit,
    boot,
    daemons,
    kernel_options,
    mitigations,
    modules,
    mounts,
    sysctls,
)
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey
from hardcost.in_force.read import read


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def places(survey: Survey) -> dict[str, str]:
    return {one.name: str(one.place or "") for one in survey.found}


def by_name(survey: Survey, name: str) -> InForce:
    (one,) = [one for one in survey.found if one.name == name]
    return one


SHADOW = "-w /etc/shadow -p wa -k id"
CHMOD = "-a always,exit -F arch=b64 -S chmod -F key=perm"


def test_audit_rules_are_those_of_rules_d_each_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, "etc/audit/rules.d/10-a.rules", f"-D\n# {CHMOD}\n{SHADOW}\n")
    write(tmp_path, "etc/audit/rules.d/9-b.rules", f"{CHMOD}\n-w nonsense\n")
    write(tmp_path, "etc/audit/rules.d/other", CHMOD)
    write(tmp_path, "etc/audit/audit.rules", "-w /merged -p wa")
    survey = audit.read(MachineFiles(tmp_path))
    assert places(survey) == {
        CHMOD: "/etc/audit/rules.d/9-b.rules:1",  # as augenrules sorts
        SHADOW: "/etc/audit/rules.d/10-a.rules:3",
    }
    assert any("9-b.rules:2: auditctl refuses it" in note for note in survey.notes)


def test_a_rule_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "etc/audit/rules.d/a.rules", f"{SHADOW}\n{SHADOW}\n")
    survey = audit.read(MachineFiles(tmp_path))
    assert places(survey) == {SHADOW: "/etc/audit/rules.d/a.rules:1"}
    assert any("a.rules:2: the kernel refuses it" in note for note in survey.notes)


def test_the_merged_file_is_read_where_there_is_no_other(tmp_path: Path) -> None:
    write(tmp_path, "etc/audit/audit.rules", SHADOW)
    assert places(audit.read(MachineFiles(tmp_path))) == {SHADOW: "/etc/audit/audit.rules:1"}


def test_of_sysctl_files_the_first_folder_and_the_last_line_count(tmp_path: Path) -> None:
    write(tmp_path, "usr/lib/sysctl.d/50-a.conf", "kernel.kptr_restrict = 0\n")
    write(tmp_path, "etc/sysctl.d/50-a.conf", "kernel.kptr_restrict = 1\n")
    write(tmp_path, "etc/sysctl.d/60-b.conf", "\nkernel.kptr_restrict=2\nfaulty line\n")
    write(tmp_path, "usr/lib/sysctl.d/10-c.conf", "kernel.sysrq = 0\n")
    survey = sysctls.read(MachineFiles(tmp_path))
    assert places(survey) == {
        "kernel.kptr_restrict=2": "/etc/sysctl.d/60-b.conf:2",
        "kernel.sysrq=0": "/usr/lib/sysctl.d/10-c.conf:1",
    }
    assert not by_name(survey, "kernel.kptr_restrict=2").by_default
    assert by_name(survey, "kernel.sysrq=0").by_default  # the distribution's file
    assert any("60-b.conf:3: left out" in note for note in survey.notes)


def test_the_last_file_of_sysctls_is_sysctl_conf(tmp_path: Path) -> None:
    write(tmp_path, "etc/sysctl.d/50-a.conf", "kernel.kptr_restrict = 1\n")
    write(tmp_path, "etc/sysctl.conf", "kernel.kptr_restrict = 2\n")
    assert places(sysctls.read(MachineFiles(tmp_path))) == {
        "kernel.kptr_restrict=2": "/etc/sysctl.conf:1"
    }


def test_boot_parameters_come_from_the_boot_loader_s_files(tmp_path: Path) -> None:
    write(tmp_path, "etc/default/grub", '#\nGRUB_CMDLINE_LINUX="quiet init_on_free=1"\n')
    write(tmp_path, "etc/default/grub.d/a.cfg", "GRUB_CMDLINE_LINUX_DEFAULT='slab_nomerge'\n")
    survey = boot.read(MachineFiles(tmp_path))
    set_here = {name: place for name, place in places(survey).items() if place}
    assert set_here == {
        "init_on_free=1": "/etc/default/grub:2",
        "slab_nomerge": "/etc/default/grub.d/a.cfg:1",
    }
    assert all(one.by_default for one in survey.found if one.name not in set_here)


def test_a_parameter_that_is_switched_off_is_no_default(tmp_path: Path) -> None:
    default = next(one.name for one in boot.read(MachineFiles(tmp_path)).found)
    key = default.partition("=")[0]
    write(tmp_path, "etc/kernel/cmdline", f"{key}=something-else")
    assert default not in places(boot.read(MachineFiles(tmp_path)))


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ("SELINUX=enforcing\n", "SELinux, enforcing"),
        ("# x\nSELINUX=permissive", "SELinux, permissive"),
        ("SELINUX=disabled\n", None),
    ],
)
def test_selinux_s_mode_is_that_of_its_configuration(
    tmp_path: Path, config: str, name: str | None
) -> None:
    write(tmp_path, "etc/selinux/config", config)
    names = list(places(modules.read(MachineFiles(tmp_path))))
    assert names == ([] if name is None else [name])


def test_kernel_options_are_those_of_the_newest_configuration(tmp_path: Path) -> None:
    write(tmp_path, "boot/config-6.1.0-9-amd64", "CONFIG_DEBUG_LIST=y\n")
    write(
        tmp_path,
        "boot/config-6.1.0-44-amd64",
        "CONFIG_HARDENED_USERCOPY=y\n# CONFIG_KSM is not set\n",
    )
    survey = kernel_options.read(MachineFiles(tmp_path))
    assert "HARDENED_USERCOPY=y" in places(survey)
    assert "KSM=n" in places(survey)
    assert "DEBUG_LIST=y" not in places(survey)
    assert all(one.by_default for one in survey.found)
    assert "recommended kernel options" in survey.notes[0]


def test_an_option_that_the_command_line_overrules_is_not_in_force(tmp_path: Path) -> None:
    write(tmp_path, "boot/config-6.1.0-44-amd64", "CONFIG_INIT_ON_FREE_DEFAULT_ON=y\n")
    assert "INIT_ON_FREE_DEFAULT_ON=y" in places(kernel_options.read(MachineFiles(tmp_path)))
    write(tmp_path, "etc/kernel/cmdline", "init_on_free=0")
    assert "INIT_ON_FREE_DEFAULT_ON=y" not in places(kernel_options.read(MachineFiles(tmp_path)))


def test_mount_options_that_harden_come_from_fstab(tmp_path: Path) -> None:
    table = "#\n/dev/a / ext4 defaults 0 0\n/dev/b /tmp ext4 rw,noexec,nodev 0 0\nbroken\n"
    write(tmp_path, "etc/fstab", table)
    assert places(mounts.read(MachineFiles(tmp_path))) == {
        "mount /tmp nodev,noexec": "/etc/fstab:3"
    }


def test_daemons_are_those_that_a_target_wants(tmp_path: Path) -> None:
    wants = tmp_path / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    for name in ("auditd.service", "fapolicyd.service", "ssh.service"):
        (wants / name).symlink_to(f"/usr/lib/systemd/system/{name}")
    assert list(places(daemons.read(MachineFiles(tmp_path)))) == ["auditd", "fapolicyd"]


def test_a_root_s_mitigations_are_not_known(tmp_path: Path) -> None:
    survey = mitigations.read(MachineFiles(tmp_path))
    assert not survey.found
    assert "mitigations" in survey.unseen[0]


def test_this_machine_can_be_read_and_says_what_it_hides() -> None:
    """Whatever machine it is: its kernel has defaults, and each thing is there once."""
    survey = read(MachineFiles())
    assert any(one.by_default for one in survey.found)
    names = [(one.kind, one.name) for one in survey.found]
    assert len(names) == len(set(names))


HOSTILE = "\x1b[2J\u202e\n../../etc/passwd;$(touch /tmp/x)"


def test_hostile_texts_are_only_texts(tmp_path: Path) -> None:
    for path in (
        "etc/audit/rules.d/a.rules",
        "etc/sysctl.d/a.conf",
        "etc/default/grub",
        "etc/selinux/config",
        "etc/fstab",
        "boot/config-6.1.0-44-amd64",
        "etc/kernel/cmdline",
    ):
        write(tmp_path, path, f'-w {HOSTILE} -p wa -k {HOSTILE}\nGRUB_CMDLINE_LINUX="{HOSTILE}"\n')
    read(MachineFiles(tmp_path))
    assert not Path("/tmp/x").exists()  # noqa: S108
