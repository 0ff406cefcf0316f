"""A profile as an Ansible role: complete, accepted by ansible-lint, and nothing in it evaluated."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template
from hypothesis import given, settings
from markdown_it import MarkdownIt

from auditrules.model.rule import Rule
from auditrules.read import parse
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.fapolicyd import Fapolicyd
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.placebo import Placebo
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.scanner import Scanner
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.export.ansible import AnsibleRole, role_of
from hardcost.profiles.importers import sysctl
from tests.mechanisms.test_export import profile
from tests.show.exports.gates import ANY_TEXT, HOSTILE

SET = (
    AuditDaemon(64),
    AuditRule(Rule("-w /etc/passwd -p wa -k {{7*7}}")),
    Sysctl("kernel.kptr_restrict", "2"),
    BootParameter("init_on_alloc=1"),
    Auditd("data", 20, (("name_format", "{{ 7 * 7 }}"),)),
    AuditPlugin("syslog"),
    MountOptions("/tmp", ("noexec", "nosuid")),  # noqa: S108  (a mount of the role's)
    Rsyslog(),
    Fapolicyd(integrity="sha256"),
    Lsm("enforcing"),
    Lsm("apparmor"),
)
NOT_SET = (
    BootParameter('dyndbg="file a.c +p"'),
    Rsyslog(rate_limit=True),
    Fapolicyd("restrictive"),
    Lsm("none"),
    MountOptions("/a b", ("noexec",)),
    Auditd(settings=(("name", "a\nb"),)),
    Kernel(),
    KernelOption("SLUB_DEBUG_ON", "y"),
    Placebo("boot", 0),
    Scanner(),
)


class _Values(yaml.SafeLoader):
    """Reads YAML with Ansible's tag for text that is not evaluated."""


def _untagged(loader: _Values, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node)
    assert isinstance(node, yaml.SequenceNode)
    return loader.construct_sequence(node)


_Values.add_constructor("!unsafe", _untagged)


def values(made: AnsibleRole) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(made.files["vars/main.yml"], _Values)  # noqa: S506  (a safe one)
    return found


def written(made: AnsibleRole, folder: Path) -> Path:
    for at, text in made.files.items():
        (folder / at).parent.mkdir(parents=True, exist_ok=True)
        (folder / at).write_text(text)
    return folder


def evaluated(made: AnsibleRole, folder: Path, key: str) -> object:
    """Return a variable of the role's as Ansible itself makes it of an expression in a task."""
    at = written(made, folder) / "vars" / "main.yml"
    loader = DataLoader()
    templar = Templar(loader=loader, variables=loader.load_from_file(str(at)))
    return templar.template(trust_as_template(f"{{{{ {key} }}}}"))


def test_every_control_is_set_or_named() -> None:
    made = role_of(profile(*SET, *NOT_SET), "r")
    assert made.controls == len(SET)
    assert {name for name, _ in made.left} == {one.name for one in NOT_SET}
    text = made.files["README.md"]
    assert all(f"{name.splitlines()[0]}" in text for name, _ in made.left)


def test_a_role_has_tasks_and_a_switch_for_what_its_profile_sets_alone() -> None:
    made = role_of(profile(Sysctl("kernel.kptr_restrict", "2")), "r")
    assert [at for at in made.files if at.startswith("tasks/")] == [
        "tasks/main.yml",
        "tasks/sysctl.yml",
    ]
    assert yaml.safe_load(made.files["defaults/main.yml"]) == {"r_sysctl": True}


def test_a_profile_without_anything_for_a_role_is_refused() -> None:
    with pytest.raises(InputError, match="nothing that a role can set"):
        role_of(profile(KernelOption("SLUB_DEBUG_ON", "y")), "r")


@pytest.mark.parametrize("name", ["a-role", "Role", "1", "", "a.b", "a" * 65])
def test_a_name_that_no_role_can_have_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="a role can't be called"):
        role_of(profile(*SET), name)


def test_the_role_s_name_is_put_into_its_own_text_alone() -> None:
    rule = "-w /ROLE -p wa -k ROLE_x"
    made = role_of(profile(AuditRule(Rule(rule)), name="ROLE"), "mine")
    assert rule in made.files["files/50-mine.rules"].splitlines()
    assert "` ROLE `" in made.files["README.md"]
    assert not any("ROLE" in text for at, text in made.files.items() if at.startswith("tasks/"))


def ansible(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program of Ansible's, with a home of its own."""
    program = Path(sys.executable).with_name(words[0])
    own = {
        **os.environ,
        "HOME": str(folder / "home"),
        "ANSIBLE_HOME": str(folder / "home"),
        "PATH": f"{program.parent}:{os.environ['PATH']}",
    }
    argv = [str(program), *words[1:]]
    return subprocess.run(argv, cwd=folder, env=own, capture_output=True, text=True, check=False)


LINT = ("ansible-lint", "--offline", "--strict", "--nocolor", "--profile", "production")


def test_ansible_lint_accepts_the_role_by_its_strictest_profile(tmp_path: Path) -> None:
    role = written(role_of(profile(*SET, *NOT_SET), "all_of_it"), tmp_path / "roles" / "all_of_it")
    done = ansible(*LINT, str(role), folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Profile 'production' was required, and it passed" in done.stderr
    handlers = role / "handlers" / "main.yml"
    handlers.write_text(handlers.read_text().replace("changed_when: true", ""))
    refused = ansible(*LINT, str(role), folder=tmp_path)
    assert refused.returncode != 0
    assert "no-changed-when" in refused.stdout


def test_ansible_evaluates_nothing_of_a_profile(tmp_path: Path) -> None:
    made = role_of(profile(*SET), "r")
    settings = evaluated(made, tmp_path, "r_auditd_settings")
    assert settings == [
        {"key": "flush", "value": "DATA"},
        {"key": "freq", "value": "20"},
        {"key": "name_format", "value": "{{ 7 * 7 }}"},
    ]
    without = made.files["vars/main.yml"].replace("!unsafe", "")
    (tmp_path / "vars" / "main.yml").write_text(without)
    loader = DataLoader()
    loaded = loader.load_from_file(str(tmp_path / "vars" / "main.yml"), trusted_as_template=True)
    careless = Templar(loader=loader, variables=loaded).template(
        trust_as_template("{{ r_auditd_settings[2].value }}")
    )
    assert str(careless) == "49"


@settings(
    ANY_TEXT, max_examples=settings().max_examples * 2 // 5
)  # Ansible's templates take their time
@given(text=HOSTILE, name=HOSTILE)
def test_any_text_comes_back_as_ansible_reads_it_or_is_left(
    tmp_path_factory: pytest.TempPathFactory, text: str, name: str
) -> None:
    odd = (
        Sysctl("kernel.core_pattern", text),
        BootParameter(text),
        MountOptions(f"/{text}", ("noexec",)),
        Auditd(settings=(("name", text),)),
        AuditRule(Rule(f"-w /etc/group -p wa -k {text}")),
    )
    good = Sysctl("kernel.kptr_restrict", "2")
    made = role_of(profile(good, *odd, name=name), "r")
    left = {one for one, _ in made.left}
    assert made.controls == 1 + sum(one.name not in left for one in odd)
    folder = tmp_path_factory.mktemp("role")
    found = values(made)
    assert evaluated(made, folder, "r_sysctls") == found["r_sysctls"]
    kept = [one for one in odd if one.name not in left]
    assert found.get("r_boot_parameters", []) == [
        one.text for one in kept if isinstance(one, BootParameter)
    ]
    assert found.get("r_mount_options", []) == [
        {"path": one.path, "option": "noexec"} for one in kept if isinstance(one, MountOptions)
    ]
    for one in kept:
        if isinstance(one, Auditd):
            own = {"key": "name", "value": text}
            assert found["r_auditd_settings"][-1] == own
            assert evaluated(made, folder, "r_auditd_settings[-1]") == own
    sysctls = sysctl.read_sysctls([folder / "files" / "90-r.conf"]).sysctls
    assert sysctls == tuple(one for one in (good, *kept) if isinstance(one, Sysctl))
    rules = parse.read([folder / "files" / "50-r.rules"]).rules if odd[-1] in kept else ()
    assert [one.text for one in rules] == [one.name for one in kept if isinstance(one, AuditRule)]


def kinds(text: str) -> list[str]:
    """Return of what a page of Markdown is made."""
    made = role_of(profile(*SET, *NOT_SET, AuditRule(Rule(text)), name=text), "r")
    tokens = MarkdownIt("commonmark").enable("table").parse(made.files["README.md"])
    return [
        inner.type for one in tokens for inner in (one, *(one.children or ())) if one.type != "text"
    ]


@ANY_TEXT
@given(text=HOSTILE)
def test_any_name_and_title_is_text_in_the_readme(text: str) -> None:
    assert kinds(text) == kinds("x")
