"""Each form is read back by its own reader: the same controls come out, or are named as left."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditrules.model.fault import RulesError
from auditrules.model.location import Location
from auditrules.model.rule import Rule
from auditrules.read import parse
from hardcost.controls.control import Control, Profile
from hardcost.mechanisms import registry
from hardcost.mechanisms.audit import AUDIT, AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BOOT_PARAMETERS, BootParameter, LoaderForm
from hardcost.mechanisms.export import Exported
from hardcost.mechanisms.kconfig import KERNELS, KernelOption
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.sysctl import SYSCTLS, Sysctl
from hardcost.profiles.importers import sysctl
from hardcost.supply.kernels import config
from tests.show.exports.gates import ANY_TEXT, HOSTILE

ALL: tuple[Control, ...] = (
    AuditDaemon(64, ("--backlog_wait_time 60000",), tolerant=True),
    AuditRule(Rule("-w /etc/passwd -p wa -k identity")),
    Sysctl("kernel.kptr_restrict", "2"),
    Sysctl("net/ipv4/conf/eth0.1/forwarding", "0"),
    BootParameter("init_on_alloc=1"),
    BootParameter('dyndbg="file a.c +p"'),
    KernelOption("SLUB_DEBUG_ON", "y"),
    KernelOption("MODULES", "n"),
    KernelOption("LSM", "landlock,yama"),
    Lsm("enforcing"),
)


def profile(*controls: Control, name: str = "p") -> Profile:
    return Profile(name, name, "", controls)


def left(made: Exported) -> set[str]:
    return {name for name, _ in made.left}


def names(kind: type) -> set[str]:
    return {one.name for one in ALL if not isinstance(one, kind)}


def test_audit_rules_come_back_from_a_folder(tmp_path: Path) -> None:
    made = AUDIT.export(profile(*ALL))
    for name, text in made.files("x").items():
        (tmp_path / name).write_text(text)
    found = parse.read([tmp_path])
    assert [rule.text for rule in found.rules] == ["-w /etc/passwd -p wa -k identity"]
    assert (found.backlog_limit, found.tolerant) == (64, True)
    assert found.options == ("--backlog_wait_time 60000",)
    assert left(made) == {one.name for one in ALL[2:]}
    assert made.controls + len(made.left) == len(ALL)


def test_audit_settings_hold_against_those_that_debian_s_own_file_has(tmp_path: Path) -> None:
    for name, text in AUDIT.export(profile(*ALL)).files("a").items():
        (tmp_path / name).write_text(text)
    (tmp_path / "audit.rules").write_text("-D\n-b 8192\n--backlog_wait_time 1\n-f 1\n")
    found = parse.read([tmp_path])
    assert found.backlog_limit == 64
    assert found.options[-1] == "--backlog_wait_time 60000"


def test_sysctls_come_back_from_a_file(tmp_path: Path) -> None:
    made = SYSCTLS.export(profile(*ALL))
    (tmp_path / "x.conf").write_text(made.text)
    assert sysctl.read_sysctls([tmp_path]).sysctls == (ALL[2], ALL[3])
    assert left(made) == names(Sysctl)


def test_boot_parameters_come_back_from_each_form(tmp_path: Path) -> None:
    words = ["init_on_alloc=1", 'dyndbg="file a.c +p"']
    bootc = BOOT_PARAMETERS.export(profile(*ALL), "bootc")
    assert tomllib.loads(bootc.text) == {"kargs": words}
    plain = BOOT_PARAMETERS.export(profile(*ALL))
    assert plain.text == " ".join(words) + "\n"
    grub = BOOT_PARAMETERS.export(profile(*ALL), "grub")
    (tmp_path / "x.cfg").write_text(grub.text)
    script = 'GRUB_CMDLINE_LINUX="quiet"; . "$1"; printf %s "$GRUB_CMDLINE_LINUX"'
    argv = ["sh", "-euc", script, "sh", str(tmp_path / "x.cfg")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == "quiet init_on_alloc=1"
    assert left(grub) == names(BootParameter) | {words[1]}


def test_kernel_options_come_back_from_a_fragment() -> None:
    made = KERNELS.export(profile(*ALL))
    found = config.read(made.text, "x")
    assert found["SLUB_DEBUG_ON"] == "y"
    assert found.get("MODULES", "n") == "n"
    assert found["LSM"].strip('"') == "landlock,yama"
    assert left(made) == names(KernelOption)


@pytest.mark.parametrize("verb", ["augenrules", "sysctl", "cmdline", "kconfig"])
def test_a_profile_with_nothing_for_a_form_has_no_control_in_it(verb: str) -> None:
    (mechanism,) = (one for one in registry.ALL if one.export_verb == verb)
    assert mechanism.export(profile(Lsm("none"))).controls == 0


@ANY_TEXT
@given(key=HOSTILE, name=HOSTILE)
def test_any_key_of_a_rule_comes_back_or_is_left(key: str, name: str) -> None:
    good, odd = "-w /etc/passwd -p wa", f"-w /etc/group -p wa -k {key}"
    made = AUDIT.export(profile(AuditRule(Rule(good)), AuditRule(Rule(odd)), name=name))
    try:
        found = [one.text for one in parse.read_lines(_placed(made.text)).rules]
    except RulesError as error:
        raise AssertionError(made.text) from error
    assert found == [good, *([] if odd in left(made) else [odd])]


def _placed(text: str) -> list[tuple[str, Location]]:
    return [(line, Location("x", at)) for at, line in enumerate(text.split("\n"), 1)]


@ANY_TEXT
@given(value=HOSTILE, name=HOSTILE)
def test_any_value_of_a_sysctl_comes_back_or_is_left(
    tmp_path_factory: pytest.TempPathFactory, value: str, name: str
) -> None:
    good, odd = Sysctl("kernel.kptr_restrict", "2"), Sysctl("kernel.core_pattern", value)
    made = SYSCTLS.export(profile(good, odd, name=name))
    path = tmp_path_factory.mktemp("sysctl") / "x.conf"
    path.write_text(made.text)
    expected = (good,) if odd.name in left(made) else (good, odd)
    assert sysctl.read_sysctls([path]).sysctls == expected


@ANY_TEXT
@given(word=HOSTILE, name=HOSTILE, form=st.sampled_from(["grub", "bootc", "plain"]))
def test_any_boot_word_comes_back_or_is_left(word: str, name: str, form: LoaderForm) -> None:
    made = BOOT_PARAMETERS.export(
        profile(BootParameter("quiet"), BootParameter(word), name=name), form
    )
    expected = ["quiet", *([] if word in left(made) else [word])]
    if form == "bootc":
        assert tomllib.loads(made.text) == {"kargs": expected}
    elif form == "grub":
        (line,) = [one for one in made.text.splitlines() if not one.startswith("#")]
        assert line == f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {" ".join(expected)}"'
        assert not set(" ".join(expected)) & set("\"'`$\\;&|<>(){}\n")
    else:
        assert made.text == " ".join(expected) + "\n"


@ANY_TEXT
@given(value=HOSTILE, name=HOSTILE)
def test_any_kernel_option_comes_back_or_is_left(value: str, name: str) -> None:
    good, odd = KernelOption("SLUB_DEBUG_ON", "y"), KernelOption("LSM", value)
    made = KERNELS.export(profile(good, odd, name=name))
    found = dict(config.read(made.text, "x"))
    assert found.pop("SLUB_DEBUG_ON") == "y"
    if odd.name in left(made):
        assert found == {}
    else:
        assert found.get("LSM", "n").strip('"') == value
