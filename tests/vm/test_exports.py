"""Exports, applied in a Debian guest by the programs that read them, and read back from it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from auditrules.auditctl.translate import Target, translate
from auditrules.auditctl.write import listing
from auditrules.load import watched_paths
from auditrules.model.location import Location
from auditrules.read import parse
from hardcost.controls.control import Profile
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.mechanisms.audit import AUDIT, AuditRule
from hardcost.mechanisms.boot import BOOT_PARAMETERS, BootParameter
from hardcost.mechanisms.kconfig import KERNELS, KernelOption
from hardcost.mechanisms.sysctl import SYSCTLS, Sysctl
from hardcost.profiles import catalogue
from hardcost.protocol import ask
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels import config
from tests.mechanisms.test_export import profile
from tests.vm.conftest import Command
from tests.vm.controls_applied import FAST
from tests.vm.export_checks import said, shell, with_packages

pytestmark = pytest.mark.vm

STUDY = """\
title = "exported"
workloads = ["syscalls calls=null"]
baseline = "profile"
[[configuration]]
name = "profile"
audit.profile = "audit-samples"
[[configuration]]
name = "exported"
audit.files = ["rules.d"]
"""


def test_exported_rules_cost_in_a_guest_what_the_profile_does(
    hardcost: Command, tmp_path: Path
) -> None:
    hardcost("export", "augenrules", "audit-samples", "-o", str(tmp_path / "rules.d"))
    same = hardcost("gate", "audit-samples", str(tmp_path / "rules.d"), "--predict")
    assert "Nothing grew" in same.out
    (tmp_path / "study.toml").write_text(STUDY)
    done = hardcost("run", str(tmp_path / "study.toml"), "--format", "json")
    values = done.values("null")
    assert values["exported"] == values["profile"]


RULES = "/etc/audit/rules.d"
ODD_KEYS = ("{{7*7}}", "$(id)", "'", '"', "]]>", "`id`", "a;b|c&d", "-->", "%0A", "<b>", "*")


def reduced() -> Profile:
    """Return published rules, with rules whose keys mean something to shells and templates."""
    found = catalogue.load("stig-reduced")
    odd = [f"-w /srv/{at} -p wa -k {key}" for at, key in enumerate(ODD_KEYS)]
    read = [parse.read_line(text, Location("odd", at)).rule for at, text in enumerate(odd, 1)]
    return profile(*found.controls, *(AuditRule(rule) for rule in read if rule))


@pytest.mark.slow
@pytest.mark.usefixtures("read_for")
def test_augenrules_takes_the_folder_and_the_kernel_lists_the_profile_s_rules(
    cache_root: Path,
) -> None:
    wanted = reduced()
    rules = [one.rule for one in wanted.controls if isinstance(one, AuditRule)]
    directories, files = watched_paths.paths(rules)
    made = AUDIT.export(wanted)
    assert not made.left
    found = said(
        cache_root,
        [
            ask.make(directories, files),
            *(ask.install(f"{RULES}/{at}", text, 0o640) for at, text in made.files("x").items()),
            shell("before", "augenrules --check"),
            shell("load", "augenrules --load"),
            shell("after", "augenrules --check"),
            shell("list", "auditctl -l"),
        ],
    )
    assert "Rules have changed and should be updated" in found["before"]
    assert "No change" in found["after"]
    target = Target({"root": 0}, {"root": 0}, is_directory=lambda path: path in directories)
    listed = found["list"].splitlines()
    assert tuple(listed) == listing([translate(rule, target) for rule in rules])
    assert sum(key in line for key in ODD_KEYS for line in listed) >= len(ODD_KEYS)


SETTINGS = (
    Sysctl("kernel.kptr_restrict", "2"),
    Sysctl("kernel.core_pattern", "|/bin/false {{ 7 * 7 }} $(id) 'a' \"b\" ]]>"),
    Sysctl("net/ipv4/conf/lo/rp_filter", "1"),
    Sysctl("net.ipv4.ip_local_port_range", "32768\t50000"),
)
READ = "for key; do sysctl -n -- \"$key\" | tr '\\t' ' '; done"


@pytest.mark.slow
@pytest.mark.parametrize(
    "program", ["sysctl --load=/etc/sysctl.d/90-x.conf", "/lib/systemd/systemd-sysctl 90-x.conf"]
)
def test_both_readers_of_sysctl_d_set_what_the_profile_says(cache_root: Path, program: str) -> None:
    made = SYSCTLS.export(profile(*SETTINGS))
    assert not made.left
    keys = " ".join(one.key for one in SETTINGS)
    found = said(
        cache_root,
        [
            ask.install("/etc/sysctl.d/90-x.conf", made.text),
            shell("set", program),
            shell("read", f"set -- {keys}; {READ}"),
        ],
    )
    assert found["read"].splitlines() == [one.value.replace("\t", " ") for one in SETTINGS]


@pytest.mark.slow
def test_grub_mkconfig_puts_the_words_on_the_kernel_s_line(cache_root: Path) -> None:
    words = ("init_on_alloc=1", "audit=1", "lsm=landlock,yama", "slub_debug=FZ")
    made = BOOT_PARAMETERS.export(profile(*map(BootParameter, words)), "grub")
    # The menu's head takes fonts and modules, which this guest has not; 10_linux writes the lines.
    parts = "chmod -x /etc/grub.d/*; chmod +x /etc/grub.d/10_linux"
    line = "grep -m 1 '^[[:space:]]*linux' /run/grub.cfg"
    menu = f"{parts}; grub-mkconfig -o /run/grub.cfg 2>&1; {line}"
    found = said(
        cache_root,
        [
            *with_packages(cache_root, ("grub-common", "grub2-common", "gettext-base")),
            ask.install("/etc/default/grub", "GRUB_CMDLINE_LINUX=quiet\n"),
            ask.install("/etc/default/grub.d/50-x.cfg", made.text),
            ask.install("/boot/vmlinuz-6.1.0-1-amd64", "a kernel"),
            ask.make(["/boot/grub"]),
            shell("menu", menu, limit_seconds=600),
        ],
    )
    found_words = found["menu"].splitlines()[-1].split()
    assert found_words[found_words.index("quiet") :] == ["quiet", *words]


def test_bootc_s_toml_holds_the_words() -> None:
    words = ["init_on_alloc=1", 'dyndbg="file a.c +p"']
    made = BOOT_PARAMETERS.export(profile(*map(BootParameter, words)), "bootc")
    assert tomllib.loads(made.text) == {"kargs": words}


@pytest.mark.slow
def test_kconfig_completes_the_fragment_to_the_options_of_the_profile(
    cache_root: Path, tmp_path: Path
) -> None:
    options = [KernelOption.of(text) for text in ("SLUB_DEBUG=y", "BUG=n", "HZ_100=y")]
    fragment = KERNELS.export(profile(*options))
    assert not fragment.left
    merged = tmp_path / "merged.config"
    base = config.base_text("lean")
    merged.write_text(base + fragment.text)
    machine = VirtualMachine(Cache(cache_root), FAST)
    found = machine.configuration(Boot(kernel=KernelRecipe(base=str(merged))))
    assert found is not None
    assert {one: found.get(one.option, "n") for one in options} == {
        one: one.value for one in options
    }
