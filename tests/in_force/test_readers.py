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
ON = {"audit switched on": ""}


def test_audit_rules_are_those_of_rules_d_each_with_its_line(tmp_path: Path) -> None:
    write(tmp_path, "etc/audit/rules.d/10-a.rules", f"-D\n# {CHMOD}\n{SHADOW}\n")
    write(tmp_path, "etc/audit/rules.d/9-b.rules", f"{CHMOD}\n-w nonsense\n")
    write(tmp_path, "etc/audit/rules.d/other", CHMOD)
    write(tmp_path, "etc/audit/audit.rules", "-w /merged -p wa")
    survey = audit.read(MachineFiles(tmp_path))
    assert places(survey) == ON | {
        CHMOD: "/etc/audit/rules.d/9-b.rules:1",  # as augenrules sorts
        SHADOW: "/etc/audit/rules.d/10-a.rules:3",
    }
    assert any("9-b.rules:2: auditctl refuses it" in note for note in survey.notes)


def test_a_rule_that_is_there_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "etc/audit/rules.d/a.rules", f"{SHADOW}\n{SHADOW}\n")
    survey = audit.read(MachineFiles(tmp_path))
    assert places(survey) == ON | {SHADOW: "/etc/audit/rules.d/a.rules:1"}
    assert any("a.rules:2: the kernel refuses it" in note for note in survey.notes)


def test_the_merged_file_is_read_where_there_is_no_other(tmp_path: Path) -> None:
    write(tmp_path, "etc/audit/audit.rules", SHADOW)
    survey = audit.read(MachineFiles(tmp_path))
    assert places(survey) == ON | {SHADOW: "/etc/audit/audit.rules:1"}


def test_audit_is_on_once_where_there_are_rules(tmp_path: Path) -> None:
    """What a boot parameter says is no second cost; without rules nothing is known."""
    write(tmp_path, "etc/audit/rules.d/a.rules", "-b 320\n")
    survey = audit.read(MachineFiles(tmp_path))
    assert (survey.found, survey.backlog_limit) == ((), 320)
    write(tmp_path, "etc/audit/rules.d/b.rules", f"-b 640\n{SHADOW}\n")
    survey = audit.read(MachineFiles(tmp_path))
    assert (len(survey.found), survey.backlog_limit) == (2, 640)
    write(tmp_path, "etc/default/grub", 'GRUB_CMDLINE_LINUX="audit=1"\n')
    assert places(audit.read(MachineFiles(tmp_path))).keys() == {SHADOW}


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


def test_sysctl_conf_is_not_read_at_boot_unless_it_is_linked(tmp_path: Path) -> None:
    write(tmp_path, "etc/sysctl.conf", "kernel.kptr_restrict = 2\n")
    survey = sysctls.read(MachineFiles(tmp_path))
    assert not survey.found
    assert any("sysctl --system" in note for note in survey.notes)
    (tmp_path / "etc/sysctl.d").mkdir()
    (tmp_path / "etc/sysctl.d/99-sysctl.conf").symlink_to("../sysctl.conf")
    assert places(sysctls.read(MachineFiles(tmp_path))) == {
        "kernel.kptr_restrict=2": "/etc/sysctl.d/99-sysctl.conf:1"
    }


def test_a_pattern_leaves_alone_what_any_file_names(tmp_path: Path) -> None:
    key = "net.ipv4.conf.all.rp_filter"
    write(tmp_path, "etc/sysctl.d/10-x.conf", f"{key} = 1\n")
    write(tmp_path, "usr/lib/sysctl.d/50-default.conf", "net.ipv4.conf.*.rp_filter = 2\n")
    assert places(sysctls.read(MachineFiles(tmp_path)))[f"{key}=1"] == "/etc/sysctl.d/10-x.conf:1"


def test_a_key_has_one_spelling_and_hidden_files_are_none(tmp_path: Path) -> None:
    write(
        tmp_path, "etc/sysctl.d/a.conf", "kernel/kptr_restrict=2\nnet/ipv4/conf/e.1/forwarding=0\n"
    )
    write(tmp_path, "etc/sysctl.d/.hidden.conf", "kernel.sysrq=0\n")
    write(tmp_path, "etc/audit/rules.d/.h.rules", SHADOW)
    assert list(places(sysctls.read(MachineFiles(tmp_path)))) == [
        "kernel.kptr_restrict=2",
        "net/ipv4/conf/e.1/forwarding=0",
    ]
    assert not audit.read(MachineFiles(tmp_path)).found


def test_many_keys_and_many_links_to_them_end_soon(tmp_path: Path) -> None:
    write(tmp_path, "etc/big", "".join(f"kernel.a{one} = 1\n" for one in range(20_000)))
    (tmp_path / "etc/sysctl.d").mkdir()
    for one in range(300):
        (tmp_path / f"etc/sysctl.d/{one}.conf").symlink_to("../big")
    files = MachineFiles(tmp_path, _bytes=600_000)  # a few of the links' texts
    assert len(sysctls.read(files).found) == 20_000
    assert files.cut


def test_boot_parameters_come_from_the_boot_loader_s_files(tmp_path: Path) -> None:
    write(tmp_path, "etc/default/grub", '#\nGRUB_CMDLINE_LINUX="quiet init_on_free=1"\n')
    write(tmp_path, "etc/default/grub.d/a.cfg", "GRUB_CMDLINE_LINUX_DEFAULT='slab_nomerge'\n")
    survey = boot.read(MachineFiles(tmp_path))
    set_here = {name: place for name, place in places(survey).items() if place}
    assert set_here == {
        "init_on_free=1": "/etc/default/grub:2",
        "slab_nomerge": "/etc/default/grub.d/a.cfg:1",
    }
    assert len(survey.found) == len(set_here)  # which kernel boots, and its defaults, is not known


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'GRUB_CMDLINE_LINUX="init_on_free=1"\nGRUB_CMDLINE_LINUX="slab_nomerge"',
            {"slab_nomerge"},
        ),
        ('GRUB_CMDLINE_LINUX="page_poison=1" # for tests', {"page_poison=1"}),
        ("GRUB_CMDLINE_LINUX='quiet slab_nomerge'; FOO=1", {"slab_nomerge"}),
        (
            "GRUB_CMDLINE_LINUX=slab_nomerge\nGRUB_CMDLINE_LINUX+=' page_poison=1'",
            {"slab_nomerge", "page_poison=1"},
        ),
        (
            'GRUB_CMDLINE_LINUX=slab_nomerge\nGRUB_CMDLINE_LINUX="${GRUB_CMDLINE_LINUX} vga"',
            {"slab_nomerge"},
        ),
        ('export GRUB_CMDLINE_LINUX_DEFAULT="page_poison=1"', {"page_poison=1"}),
        (
            'GRUB_CMDLINE_LINUX="slab_nomerge \\\ninit_on_free=1"',
            {"slab_nomerge", "init_on_free=1"},
        ),
        ('GRUB_CMDLINE_LINUX="init_on_free=1 init_on_free=0"', set()),
        ('GRUB_CMDLINE_LINUX="init_on_free=1 init_on_free=on"', {"init_on_free=1"}),
        ('GRUB_CMDLINE_LINUX="unclosed', set()),
    ],
)
def test_grub_s_file_is_read_as_a_shell_reads_it(
    tmp_path: Path, text: str, words: set[str]
) -> None:
    write(tmp_path, "etc/default/grub", text)
    survey = boot.read(MachineFiles(tmp_path))
    assert set(places(survey)) == words
    assert bool(survey.notes) == ("unclosed" in text)


def test_the_loader_s_entries_are_those_that_end_in_conf(tmp_path: Path) -> None:
    write(tmp_path, "boot/loader/entries/a.conf", "title x\noptions\tinit_on_free=1 quiet\n")
    write(tmp_path, "boot/loader/entries/a.conf.bak", "options page_poison=1\n")
    assert places(boot.read(MachineFiles(tmp_path))) == {
        "init_on_free=1": "/boot/loader/entries/a.conf:2"
    }


@pytest.mark.parametrize(
    ("config", "name"),
    [
        ("SELINUX=enforcing\n", "SELinux, enforcing"),
        ("# x\nSELINUX=permissive", "SELinux, permissive"),
        ("SELINUX=disabled\n", None),
        ("SELINUX=Enforcing\n", "SELinux, enforcing"),
        ("SELINUX=disabled\nSELINUX=enforcing\n", None),
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
    table = "#\n/dev/a /home ext4 noexec,exec 0 0\n/dev/b /tmp ext4 rw,noexec,nodev 0 0\nbroken\n"
    write(tmp_path, "etc/fstab", table)
    assert places(mounts.read(MachineFiles(tmp_path))) == {
        "mount /tmp nodev,noexec": "/etc/fstab:3"
    }


def test_selinux_that_the_command_line_switches_off_is_not_in_force(tmp_path: Path) -> None:
    write(tmp_path, "etc/selinux/config", "SELINUX=enforcing\n")
    write(tmp_path, "etc/kernel/cmdline", "selinux=0\n")
    assert not modules.read(MachineFiles(tmp_path)).found


def test_a_kernel_s_configuration_may_lie_beside_its_modules(tmp_path: Path) -> None:
    write(tmp_path, "usr/lib/modules/6.1.0-57-amd64/config", "CONFIG_DEBUG_LIST=y\n")
    place = places(kernel_options.read(MachineFiles(tmp_path)))["DEBUG_LIST=y"]
    assert place == "/usr/lib/modules/6.1.0-57-amd64/config"


def test_a_masked_daemon_is_not_started(tmp_path: Path) -> None:
    wants = tmp_path / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    (wants / "auditd.service").symlink_to("/usr/lib/systemd/system/auditd.service")
    (wants.parent / "auditd.service").symlink_to("/dev/null")
    assert not daemons.read(MachineFiles(tmp_path)).found


@pytest.mark.parametrize(
    "line", ["-w /etc/caf\udce9 -p wa -k x", "  -w /etc/shadow -p wa", '-w "/a']
)
def test_no_line_of_rules_is_lost_silently(tmp_path: Path, line: str) -> None:
    path = tmp_path / "etc/audit/rules.d/a.rules"
    path.parent.mkdir(parents=True)
    path.write_bytes(line.encode("utf-8", "surrogateescape"))
    survey = audit.read(MachineFiles(tmp_path))
    assert survey.found or any("a.rules:1" in note for note in survey.notes)


def test_names_with_other_digits_are_sorted(tmp_path: Path) -> None:
    write(tmp_path, "etc/audit/rules.d/\u00b21.rules", SHADOW)
    write(tmp_path, "etc/audit/rules.d/1.rules", CHMOD)
    assert len(places(audit.read(MachineFiles(tmp_path))).keys() - ON.keys()) == 2


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
