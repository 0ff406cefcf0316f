from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from auditrules.model.location import Location
from hardcost.errors import InputError
from hardcost.mechanisms.sysctl import Sysctl, template_of
from hardcost.profiles import catalogue
from hardcost.profiles.importers import sysctl


def folder(path: Path, files: Mapping[str, str]) -> Path:
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        (path / name).write_text(content)
    return path


def test_a_file_is_read_as_systemd_reads_it(tmp_path: Path) -> None:
    text = """\
# kernel.a = 1
  ; kernel.b = 1

  kernel.kptr_restrict=2
net/ipv4/conf/eth0.1/rp_filter = 1
-kernel.printk =  3 4 1 3\t
-net.ipv4.conf.lo.rp_filter
"""
    file = folder(tmp_path, {"x.conf": text}) / "x.conf"
    found = sysctl.read_sysctls([file])
    assert found.sysctls == (
        Sysctl("kernel.kptr_restrict", "2"),
        Sysctl("net/ipv4/conf/eth0.1/rp_filter", "1"),
        Sysctl("kernel.printk", "3 4 1 3"),
    )
    assert [one.place for one in found.sysctls] == [Location(str(file), line) for line in (4, 5, 6)]
    (note,) = found.notes
    assert note.startswith(f"{file}:6: if a kernel refuses -kernel.printk")


def test_of_a_folder_later_files_win_however_the_key_is_written(tmp_path: Path) -> None:
    files = {
        "90-z.conf": "kernel/x = 2\n",
        "10-a.conf": "kernel.x = 1\nkernel.y = 1\n",
        "20-same.conf": "kernel.y=1",
        "README": "no",
        ".hidden.conf": "bad",
    }
    path = folder(tmp_path / "sysctl.d", files)
    (path / "00-masked.conf").symlink_to("/dev/null")
    found = sysctl.read_sysctls([path])
    assert [str(one.place) for one in found.sysctls] == [
        f"{path}/20-same.conf:1",
        f"{path}/90-z.conf:1",
    ]
    assert found.notes == (
        f"{path}/10-a.conf:1: kernel.x=1 is overridden: {path}/90-z.conf:1 sets 2",
    )


def test_all_that_is_wrong_is_reported_at_once_with_its_place(tmp_path: Path) -> None:
    text = "net.ipv4.conf.*.rp_filter=1\nswap = 1\nkernel.x\nkernel.y =\nkernel.ok = 1\n"
    file = folder(tmp_path, {"x.conf": text}) / "x.conf"
    with pytest.raises(InputError) as raised:
        sysctl.read_sysctls([file])
    assert [str(one.place) for one in raised.value.problems] == [f"{file}:{n}" for n in (2, 3)]
    assert all("--leave-out-faulty" in str(one.hint) for one in raised.value.problems)
    found = sysctl.read_sysctls([file], leave_out_faulty=True)
    assert [one.name for one in found.sysctls][3:] == ["kernel.ok=1"]
    assert sum(": left out: " in note for note in found.notes) == 2


def test_a_pattern_sets_the_keys_of_a_guest_that_no_other_line_names(tmp_path: Path) -> None:
    text = """\
net.ipv4.conf.*.log_martians = 1
-net.ipv4.conf.lo.log_martians
net/ipv4/conf/default/log_martians = 0
-net.ipv6.conf.[ad]*.accept_ra = 0
net.ipv4.neigh.*.base_reachable_time = 30
kernel.*.x = 1
"""
    file = folder(tmp_path, {"x.conf": text}) / "x.conf"
    found = sysctl.read_sysctls([file])
    assert [one.name for one in found.sysctls] == [
        "net.ipv4.conf.all.log_martians=1",
        "net/ipv4/conf/default/log_martians=0",
        "net.ipv6.conf.all.accept_ra=0",
        "net.ipv6.conf.default.accept_ra=0",
        "net.ipv4.neigh.default.base_reachable_time=30",
        "net.ipv4.neigh.lo.base_reachable_time=30",
    ]
    assert any("which keys kernel.*.x names in a guest is not known" in one for one in found.notes)


def test_what_a_saved_listing_states_is_left_out_with_the_reason(tmp_path: Path) -> None:
    text = "fs.dentry-state = 1 2 3\nkernel.kptr_restrict = 2\nvm.stat_refresh = \n"
    file = tmp_path / "saved"
    file.write_text(text + "kernel.random.boot_id = x\nkernel.core_pattern = \n")
    found = catalogue.load(str(file))
    assert [one.name for one in found.controls] == [
        "kernel.kptr_restrict=2",
        "kernel.core_pattern=",
    ]
    assert len(found.notes) == 3


@pytest.mark.parametrize(
    ("key", "kept"),
    [
        ("dev.raid.speed_limit_max", True),
        ("dev.parport.default.timeslice", True),
        ("dev.parport.parport0.irq", False),
        ("fs.quota.warnings", True),
        ("fs.quota.syncs", False),
        ("net.netfilter.nf_conntrack_buckets", True),
        ("net.netfilter.nf_conntrack_count", False),
        ("net.ipv4.conf.all.mc_forwarding", False),
        ("crypto.fips_enabled", False),
        ("kernel.tainted", False),
    ],
)
def test_only_what_can_t_be_set_is_left_out(tmp_path: Path, key: str, *, kept: bool) -> None:
    file = tmp_path / "x.conf"
    file.write_text(f"kernel.ok = 1\n{key} = 1\n")
    found = sysctl.read_sysctls([file])
    assert [one.key for one in found.sysctls[1:]] == [key] * kept
    assert len(found.notes) == (not kept)


@pytest.mark.parametrize(
    ("line", "language"),
    [
        ("kernel.x = {{ value }}", "a Jinja"),
        ("{% if a %}", "a Jinja"),
        ("kernel.x = <%= @a -%>", "an ERB"),
    ],
)
def test_a_template_is_recognised(tmp_path: Path, line: str, language: str) -> None:
    file = tmp_path / "x.conf"
    file.write_text(f"kernel.y = 1\n{line}\nkernel.z\n")
    with pytest.raises(InputError, match=f"this is {language} template") as raised:
        sysctl.read_sysctls([file], leave_out_faulty=True)
    assert [one.hint for one in raised.value.problems] == ["render it first"]


def test_braces_within_a_value_are_text() -> None:
    assert template_of("kernel.core_pattern=|/bin/false {{ 7 * 7 }} <% x") is None
    assert template_of("net.{{ name }}.x = 1") == "Jinja"


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"kernel.x = \xff\n"])
def test_a_file_without_settings_or_text_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.conf"
    file.write_bytes(content)
    with pytest.raises(InputError) as raised:
        catalogue.load(str(file))
    place = raised.value.problems[0].place
    assert place is not None
    assert place.file == str(file)


def test_a_profile_is_sysctls_or_rules_by_what_it_holds(tmp_path: Path) -> None:
    sysctls, rules = "kernel.kptr_restrict = 2\n", "-w /etc/passwd -p wa -k id\n"
    files = {"s.conf": sysctls, "r.conf": rules, "plain": sysctls, "r.rules": rules}
    path = folder(tmp_path, files)
    names = {
        name: [one.name for one in catalogue.load(str(path / name)).controls] for name in files
    }
    assert names["s.conf"] == names["plain"] == ["kernel.kptr_restrict=2"]
    assert names["r.conf"] == names["r.rules"] == ["auditd", "-w /etc/passwd -p wa -k id"]
    with pytest.raises(InputError, match=r"sysctls \(r\.conf\) and audit rules \(r\.rules\)"):
        catalogue.load(str(path))
    only = folder(tmp_path / "sysctl.d", {"1.conf": sysctls})
    (control,) = catalogue.load(str(only)).controls
    assert control.name == "kernel.kptr_restrict=2"


def test_one_setting_is_a_profile(tmp_path: Path) -> None:
    (control,) = catalogue.load("kernel.kptr_restrict=2").controls
    assert control == Sysctl("kernel.kptr_restrict", "2")
    with pytest.raises(InputError) as raised:
        catalogue.load("init_on_alloc=1")
    assert raised.value.problems[0].hint is not None
    assert "--boot init_on_alloc=1" in raised.value.problems[0].hint
    named = tmp_path / "kernel.x=1"
    named.write_text("kernel.y = 2\n")
    (control,) = catalogue.load(str(named)).controls
    assert control.name == "kernel.y=2"


def test_an_imported_file_is_a_profile_that_can_be_loaded(tmp_path: Path) -> None:
    file = folder(tmp_path, {"x.conf": "kernel.x = 1\nnet/ipv4/conf/eth0.1/rp_filter = 1\n"})
    found = sysctl.read_sysctls([file / "x.conf"])
    profile = tmp_path / "p.toml"
    profile.write_text(found.toml("A title", "x.conf"))
    loaded = catalogue.load(str(profile))
    assert loaded.title == "A title"
    assert loaded.controls == found.sysctls


def test_a_profile_without_a_title_goes_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('sysctl = { "kernel.x" = 1 }\n')
    assert catalogue.load(str(path)).title == str(path)
