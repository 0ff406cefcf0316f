from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hardcost.auditrules.rule import Rule, RuleSet
from hardcost.controls.control import AuditDaemon, AuditRule, BootParameter, Profile, Sysctl
from hardcost.controls.tomlfile import parse, validated
from hardcost.controls.written import (
    Controls,
    ControlsTable,
    Resolver,
    of_profile,
    together,
)
from hardcost.errors import InputError, Problem

if TYPE_CHECKING:
    from hardcost.controls.written import PackageRoot

PROFILE = Profile(
    "known",
    "",
    "",
    (AuditDaemon(99, ("-r 5",)), AuditRule(Rule("-w /known")), Sysctl("a.b", "1")),
    ("a note",),
)


def load(name: str) -> Profile:
    if name != "known":
        raise InputError(f"there is no profile '{name}'")
    return PROFILE


def resolved(
    text: str, folder: Path = Path(), package_root: PackageRoot | None = None
) -> tuple[Controls, list[tuple[int | None, str]]]:
    problems: list[Problem] = []
    file = parse(text.encode(), "f.toml")
    found = validated(file, ControlsTable, problems)
    assert found is not None
    resolver = Resolver(file, folder, problems, load, package_root)
    controls = resolver.controls(found.model)
    return controls, [(one.place.line if one.place else None, one.message) for one in problems]


def test_a_table_becomes_controls_with_the_daemon_first() -> None:
    controls, problems = resolved("""
boot = ["slub_debug=F"]
sysctl = { "kernel.x" = 1, "kernel.y" = "a b" }
audit.rules = ["-b 100", "-w /etc/x -k k"]
""")
    daemon, rule, *rest = controls.listed()
    assert problems == []
    assert daemon == AuditDaemon(100)
    assert isinstance(rule, AuditRule)
    assert (rule.name, str(rule.rule.place)) == ("-w /etc/x -k k", "f.toml:4")
    assert rest == [
        Sysctl("kernel.x", "1"),
        Sysctl("kernel.y", "a b"),
        BootParameter("slub_debug=F"),
    ]


def test_a_sysctl_without_quotes_is_the_same_key() -> None:
    controls, _ = resolved("[sysctl]\nkernel.x = 1\nnet.ipv4.y = 2\n")
    assert controls.sysctls == (Sysctl("kernel.x", "1"), Sysctl("net.ipv4.y", "2"))


def test_audit_alone_is_a_daemon() -> None:
    assert resolved("audit = {}")[0].listed() == (AuditDaemon(),)


def test_audit_that_is_not_enabled_is_none() -> None:
    assert resolved("audit.enabled = false")[0].listed() == ()


def test_a_limit_of_zero_is_kept() -> None:
    assert resolved("audit.backlog_limit = 0")[0].listed() == (AuditDaemon(0),)


def test_files_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.rules").write_text("-w /etc/x\n-f 2\n")
    controls, problems = resolved('audit.files = ["x.rules"]', tmp_path)
    assert problems == []
    assert [control.name for control in controls.listed()] == ["auditd", "-w /etc/x"]
    assert controls.notes[0].startswith(f"{tmp_path / 'x.rules'}:2: `-f 2` is not taken over")


def test_files_of_a_package_lie_where_it_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "usr").mkdir()
    (tmp_path / "usr/x.rules").write_text("-w /etc/x\n")
    text = 'audit = { package = "auditd", files = ["/usr/x.rules"] }'
    controls, problems = resolved(text, package_root={"auditd": tmp_path}.__getitem__)
    assert problems == []
    assert len(controls.listed()) == 2


def test_a_profiles_audit_rules_can_be_taken_or_all_of_it() -> None:
    everything, problems = resolved('profile = "known"')
    assert (everything, problems) == (of_profile(PROFILE), [])
    assert everything.listed() == PROFILE.controls
    rules, problems = resolved('audit = { profile = "known", rules = ["-w /more"] }')
    assert [control.name for control in rules.listed()] == ["auditd", "-w /known", "-w /more"]
    assert problems == [(1, "the profile known has controls that are no audit rules")]


def test_everything_wrong_is_told_at_its_line(tmp_path: Path) -> None:
    _, problems = resolved(
        """
profile = "unknown"
boot = [
    "fine",
    "two words",
]
[sysctl]
kernel.x = 1
"../x" = 1
[audit]
rules = ["-w /fine",
    "-q"]
files = ["missing.rules"]
""",
        tmp_path,
    )
    assert sorted(problems, key=lambda problem: problem[0] or 0) == [
        (None, "there is no such file"),
        (2, "there is no profile 'unknown'"),
        (5, "'two words' is not one word of a kernel's command line"),
        (9, "'../x' is no key of sysctl, such as kernel.kptr_restrict"),
        (12, "auditctl has no such option: option -q requires argument"),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'audit = { enabled = false, rules = ["-w /x"] }',
            "audit has rules, and is not enabled",
        ),
        (
            'audit = { package = "auditd", files = ["/x"] }',
            "the Debian package auditd is not at hand here",
        ),
    ],
)
def test_a_table_that_contradicts_itself_is_told(text: str, problem: str) -> None:
    assert resolved(text)[1] == [(1, problem)]


@pytest.mark.parametrize("name", [r"a\u0000b", "x" * 5000])
@pytest.mark.parametrize("key", ["profile = ", "audit.profile = ", "audit.files = "])
def test_a_name_that_no_file_can_have_is_told(key: str, name: str) -> None:
    written = f'["{name}"]' if "files" in key else f'"{name}"'
    assert len(resolved(key + written)[1]) == 1


def test_a_package_is_called_as_packages_are() -> None:
    problems: list[Problem] = []
    file = parse(b'audit.package = "-o=x"', "f.toml")
    validated(file, ControlsTable, problems)
    assert [problem.message for problem in problems] == [
        "audit.package string has to match pattern '^[a-z0-9][a-z0-9+.-]+$'"
    ]


def test_tables_add_up_and_the_last_value_of_a_sysctl_holds() -> None:
    first = Controls(
        RuleSet((Rule("-w /a"),), 1), (Sysctl("a.b", "1"),), (BootParameter("x"),), ("n",)
    )
    second = Controls(
        RuleSet((Rule("-w /b"),)), (Sysctl("a/b", "2"),), (BootParameter("x"),), ("n",)
    )
    assert together([first, second]) == Controls(
        RuleSet((Rule("-w /a"), Rule("-w /b")), 1),
        (Sysctl("a/b", "2"),),
        (BootParameter("x"),),
        ("n",),
    )
    assert together([]) == Controls()
