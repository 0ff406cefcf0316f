from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.model.rule import Rule
from hardcost.controls.control import (
    Controls,
    Profile,
    combine_controls,
    first,
    of_kind,
    of_profile,
)
from hardcost.errors import InputError, Problem
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.control_tables import ControlsTable, PackageRoot, Resolver
from hardcost.profiles.kernel.options import all_controls, group_controls, notes_on_gone
from hardcost.toml.read import parse, validated

PROFILE = Profile(
    "known",
    "",
    "",
    (AuditDaemon(99, ("-r 5",)), AuditRule(Rule("-w /known")), Sysctl("a.b", "1")),
    ("a note",),
)


OPTIONS = (KernelOption("A", "y"), KernelOption("B", "y"))
BUILT = Profile("built", "", "", Controls(OPTIONS).with_companions())


def load(name: str) -> Profile:
    if name == "built":
        return BUILT
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
    daemon, rule, *rest = controls.with_companions()
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
    assert controls.controls == (Sysctl("kernel.x", "1"), Sysctl("net.ipv4.y", "2"))


def test_each_control_has_the_line_it_is_written_on() -> None:
    controls, _ = resolved("""
boot = [
    "slub_debug=F", "quiet",
]
audit.rules = ["-w /etc/x -k k"]
[sysctl]
"kernel.x" = "2"
net.ipv4.y = 2
""")
    lines = {one.name: one.place.line for one in controls.with_companions() if one.place}
    assert lines == {
        "slub_debug=F": 3,
        "quiet": 3,
        "-w /etc/x -k k": 5,
        "kernel.x=2": 7,
        "net.ipv4.y=2": 8,
    }


def test_audit_alone_is_a_daemon() -> None:
    assert resolved("audit = {}")[0].with_companions() == (AuditDaemon(),)


def test_paths_that_exist_are_the_daemon_s() -> None:
    controls, problems = resolved('audit.exist = ["/etc/x.d/", "/etc/y z"]')
    assert problems == []
    assert controls.with_companions() == (
        AuditDaemon(directories=("/etc/x.d",), files=("/etc/y z",)),
    )


@pytest.mark.parametrize(
    "path", ["", "/", "etc/x", "/etc/../x", "/a//b", "/a\\nb", "/proc/x", "/dev/sda"]
)
def test_a_path_that_no_guest_can_have_is_refused_at_its_line(path: str) -> None:
    _, problems = resolved(f'audit.exist = [\n"/fine",\n"{path}",\n]')
    assert [line for line, _ in problems] == [3]


def test_audit_that_is_not_enabled_is_none() -> None:
    assert resolved("audit.enabled = false")[0].with_companions() == ()


def test_a_limit_of_zero_is_kept() -> None:
    assert resolved("audit.backlog_limit = 0")[0].with_companions() == (AuditDaemon(0),)


def test_files_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.rules").write_text("-w /etc/x\n-f 2\n")
    controls, problems = resolved('audit.files = ["x.rules"]', tmp_path)
    assert problems == []
    assert [control.name for control in controls.with_companions()] == ["auditd", "-w /etc/x"]
    assert controls.notes[0].startswith(f"{tmp_path / 'x.rules'}:2: `-f 2` is ignored")


def test_files_of_a_package_lie_where_it_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "usr").mkdir()
    (tmp_path / "usr/x.rules").write_text("-w /etc/x\n")
    text = 'audit = { package = "auditd", files = ["/usr/x.rules"] }'
    controls, problems = resolved(text, package_root={"auditd": tmp_path}.__getitem__)
    assert problems == []
    assert len(controls.with_companions()) == 2


def test_a_profiles_audit_rules_can_be_taken_or_all_of_it() -> None:
    everything, problems = resolved('profile = "known"')
    assert (everything, problems) == (of_profile(PROFILE), [])
    assert everything.with_companions() == PROFILE.controls
    rules, problems = resolved('audit = { profile = "known", rules = ["-w /more"] }')
    assert [control.name for control in rules.with_companions()] == [
        "auditd",
        "-w /known",
        "-w /more",
    ]
    assert problems == []
    assert "only the audit rules of the profile known are used" in rules.notes


def test_everything_wrong_is_reported_at_its_line(tmp_path: Path) -> None:
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
        (9, "'../x' is not a sysctl key, such as kernel.kptr_restrict"),
        (12, "-q has no value"),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'audit = { enabled = false, rules = ["-w /x"] }',
            "audit has rules but is not enabled",
        ),
        (
            'audit = { package = "auditd", files = ["/x"] }',
            "the Debian package auditd is not available here",
        ),
    ],
)
def test_a_table_that_contradicts_itself_is_reported(text: str, problem: str) -> None:
    assert resolved(text)[1] == [(1, problem)]


@pytest.mark.parametrize("name", [r"a\u0000b", "x" * 5000])
@pytest.mark.parametrize("key", ["profile = ", "audit.profile = ", "audit.files = "])
def test_a_name_that_no_file_can_have_is_reported(key: str, name: str) -> None:
    written = f'["{name}"]' if "files" in key else f'"{name}"'
    assert len(resolved(key + written)[1]) == 1


def test_a_package_is_called_as_packages_are() -> None:
    problems: list[Problem] = []
    file = parse(b'audit.package = "-o=x"', "f.toml")
    validated(file, ControlsTable, problems)
    assert [problem.message for problem in problems] == [
        "audit.package does not have the required form"
    ]


def test_tables_add_up_and_the_last_value_of_a_sysctl_holds() -> None:
    first = Controls(
        (AuditDaemon(1), AuditRule(Rule("-w /a")), Sysctl("a.b", "1"), BootParameter("x")), ("n",)
    )
    second = Controls(
        (
            AuditDaemon(assumed=True),
            AuditRule(Rule("-w /b")),
            Sysctl("a/b", "2"),
            BootParameter("x", ids=("later",)),
        ),
        ("n",),
    )
    both = combine_controls([first, second])
    assert both.notes == ("n",)
    assert both.with_companions() == (
        AuditDaemon(1),
        AuditRule(Rule("-w /a")),
        AuditRule(Rule("-w /b")),
        Sysctl("a/b", "2"),
        BootParameter("x"),
    )
    assert both.with_companions()[-1].ids == ()
    assert combine_controls([]) == Controls()


def test_kernel_options_come_last_after_their_kernel() -> None:
    controls, problems = resolved(
        'kernel = "lean"\nkconfig = ["CONFIG_A=y", "B=n"]\nboot = ["x"]\nsysctl.a.b = 1\n'
    )
    assert problems == []
    assert controls.with_companions() == (
        Sysctl("a.b", "1"),
        BootParameter("x"),
        Kernel("lean"),
        KernelOption("A", "y"),
        KernelOption("B", "n"),
    )


def test_a_kernel_may_have_no_options_and_options_have_a_kernel() -> None:
    assert resolved('kernel = "big"')[0].with_companions() == (Kernel("big"),)
    assert resolved('kconfig = ["A=y"]')[0].with_companions() == (
        Kernel("lean"),
        KernelOption("A", "y"),
    )


def test_a_kernel_with_a_dot_or_slash_is_a_file_beside_the_table(tmp_path: Path) -> None:
    (tmp_path / "my.config").write_text("CONFIG_A=y\n")
    (tmp_path / "lean").write_text("CONFIG_A=y\n")
    controls, problems = resolved('kernel = "my.config"', tmp_path)
    assert (first(controls.controls, Kernel), problems) == (Kernel(str(tmp_path / "my.config")), [])
    assert resolved('kernel = "lean"', tmp_path)[0].controls == (Kernel("lean"),)


@pytest.mark.parametrize("name", ["", "no/such", r"a\u0000b", "x." * 5000])
def test_a_kernel_that_is_no_file_is_reported(name: str) -> None:
    ((line, message),) = resolved(f'\nkernel = "{name}"')[1]
    assert line == 2
    assert message.startswith("the kernel '")


def test_a_kernel_that_exists_is_booted_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "kernel.rpm").write_text("")
    (tmp_path / "vmlinuz").write_bytes(b"MZ\0")
    (tmp_path / "folder").mkdir()
    for name in ("debian:6.12", "debian:7.3.4+deb13", "host", "installed:6.1.0-44-amd64"):
        assert resolved(f'kernel = "{name}"')[0].controls == (Kernel(name, shipped=True),)
    for name in ("kernel.rpm", "./vmlinuz", "./folder"):
        found, problems = resolved(f'kernel = "{name}"', tmp_path)
        assert (first(found.controls, Kernel), problems) == (
            Kernel(str(tmp_path / name), shipped=True),
            [],
        )


@pytest.mark.parametrize("name", ["debian:", "debian:six", "debian:6.12/../..", "debian:-o"])
def test_a_kernel_of_debian_s_is_a_version(name: str) -> None:
    ((line, message),) = resolved(f'\nkernel = "{name}"')[1]
    assert (line, message) == (2, f"'{name}' names no version of Linux, such as debian:6.12")


@pytest.mark.parametrize("name", ["installed:", "installed:x y", "installed:../vmlinuz"])
def test_an_installed_kernel_is_a_release(name: str) -> None:
    ((line, message),) = resolved(f'\nkernel = "{name}"')[1]
    assert line == 2
    assert message == f"'{name}' names no release, such as installed:6.1.0-44-amd64"


def test_patches_are_a_property_of_the_kernel_series_by_name_and_files_beside_the_table(
    tmp_path: Path,
) -> None:
    (tmp_path / "my.patch").write_text("")
    (tmp_path / "fixes").mkdir()
    text = 'kernel-patches = ["flat", "my.patch", "./fixes"]'
    words = ("flat", str(tmp_path / "my.patch"), str(tmp_path / "fixes"))
    controls, problems = resolved(text, tmp_path)
    assert problems == []
    assert controls.with_companions() == (Kernel("lean", patches=words),)
    assert controls.with_companions()[0].name == "kernel lean with flat, my.patch, fixes"
    assert resolved('kernel = "big"\nkernel-patches = ["flat"]')[0].with_companions() == (
        Kernel("big", patches=("flat",)),
    )


@pytest.mark.parametrize("name", ["", "no/such", "such.patch", r"a\u0000b", "x." * 5000])
def test_a_patch_that_is_no_file_is_reported_at_its_line(name: str) -> None:
    ((line, message),) = resolved(f'kernel-patches = [\n"flat",\n"{name}",\n]')[1]
    assert line == 3
    assert message.startswith("the patch '")


def test_patches_of_several_tables_add_up_and_stay_with_a_profile() -> None:
    named = Controls((Kernel("big", patches=("a", "b")),))
    both = combine_controls([named, Controls((Kernel(patches=("b", "c"), assumed=True),))])
    (kernel,) = both.with_companions()
    assert kernel == Kernel("big", patches=("a", "b", "c"))
    assert of_profile(Profile("p", "", "", (kernel,))) == both
    lean = Profile("p", "", "", Controls((Kernel(patches=("a",)),)).with_companions())
    assert combine_controls([Controls((Kernel("big"),)), of_profile(lean)]).with_companions() == (
        Kernel("big", patches=("a",)),
    )


def test_an_option_that_is_none_is_reported_at_its_line() -> None:
    controls, problems = resolved('kconfig = [\n"A=y",\n"B",\n"C=a b",\n]')
    assert controls.controls == (KernelOption("A", "y"),)
    assert problems == [
        (line, f"'{text}' is not a kernel option with its value, such as SLUB_DEBUG_ON=y")
        for line, text in [(3, "B"), (4, "C=a b")]
    ]


def test_a_group_of_the_catalogue_brings_its_options_and_notes_and_some_may_change() -> None:
    controls, problems = resolved(
        'kconfig-group = "kspp-cut-attack-surface"\nkconfig = ["KEXEC=y", "MORE=y"]'
    )
    options = {one.option: one.value for one in of_kind(controls.controls, KernelOption)}
    wanted = group_controls("kspp-cut-attack-surface")
    assert problems == []
    assert options == {one.option: one.value for one in wanted} | {"KEXEC": "y", "MORE": "y"}
    assert controls.notes == notes_on_gone("kspp-cut-attack-surface")
    everything = resolved('kconfig-group = "all"')[0]
    assert of_kind(everything.controls, KernelOption) == list(all_controls())
    assert everything.notes == notes_on_gone()


def test_an_unknown_group_is_reported_at_its_line() -> None:
    assert resolved('\nkconfig-group = "everything"')[1] == [
        (2, "there is no group 'everything' of kernel options")
    ]


def test_tables_with_kernels_add_up_and_the_last_holds() -> None:
    a, b = KernelOption("A", "y"), KernelOption("B", "y")
    named = Controls((Kernel("big"), a, b))
    changed = Controls((KernelOption("A", "n"),))
    expected = (Kernel("big"), KernelOption("A", "n"), b)
    assert combine_controls([named, changed]).controls == expected
    other = combine_controls([named, Controls((Kernel("other"),))])
    assert first(other.controls, Kernel) == Kernel("other")


def test_a_profiles_options_are_put_on_the_kernel_that_another_table_names() -> None:
    assert of_profile(BUILT).with_companions() == BUILT.controls
    with_kernel = combine_controls([Controls((Kernel("big"),)), of_profile(BUILT)])
    assert with_kernel.with_companions() == (Kernel("big"), *BUILT.controls[1:])
    named = Profile("named", "", "", (Kernel("big"), KernelOption("A", "y")))
    assert first(of_profile(named).controls, Kernel) == Kernel("big")


def test_no_audit_rules_can_be_taken_from_a_profile_that_has_none() -> None:
    _, problems = resolved('audit.profile = "built"')
    assert problems == [(1, "the profile built has no audit rules")]
