from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.controls.control import Profile
from hardcost.errors import InputError, Problem
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.kconfig import Kernel
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles import catalogue
from hardcost.profiles.kernel.options import all_controls, group_controls, groups, notes_on_gone

# As the package auditd 3.0.9 has them, in short.
SAMPLES = {
    "10-base-config.rules": "## First\n-D\n\n-b 8192\n--backlog_wait_time 60000\n-f 1\n",
    "30-stig.rules": "-w /etc/group -p wa -k identity\n-w /etc/sudoers.d/ -p wa -k actions\n",
    "31-privileged.rules": "#find /bin -type f -perm -04000\n",
}


def package_root(folder: Path, examples: str = "rules") -> Path:
    rules = folder / f"usr/share/doc/auditd/examples/{examples}"
    rules.mkdir(parents=True)
    for name, text in SAMPLES.items():
        (rules / name).write_text(text)
    return folder


def problems_of(name: str) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        catalogue.load(name)
    return caught.value.problems


def rules_of(profile: Profile) -> list[str]:
    return [control.name for control in profile.controls if isinstance(control, AuditRule)]


def test_every_profile_has_a_title() -> None:
    assert tuple(catalogue.titles()) == catalogue.names()
    assert {"audit-samples", "stig-reduced", "kspp"} <= set(catalogue.names())
    assert all(catalogue.titles().values())


def test_the_reduced_stig_rules_are_as_published_but_for_two_misprints() -> None:
    profile = catalogue.load("stig-reduced")
    daemon, *rules = profile.controls
    assert daemon == AuditDaemon(8192, ("--loginuid-immutable",))
    assert len(rules) == 48
    misprints = [note for note in profile.notes if "misprint" in note]
    assert [note.split("; ")[1] for note in misprints] == [
        "corrected to arch=b32",
        "corrected to finit_module",
    ]
    assert [note.split("`")[1] for note in profile.notes if "is ignored" in note] == [
        "-f 2",
        "-e 2",
    ]
    assert not any("b33" in rule.name or "fini_module" in rule.name for rule in rules)
    places = [str(rule.rule.place) for rule in rules if isinstance(rule, AuditRule)]
    assert places == [f"stig-reduced.rules:{line}" for line in range(1, 49)]


@pytest.mark.parametrize("examples", ["rules", "audit-rules"])
def test_the_samples_are_read_from_the_unpacked_package(tmp_path: Path, examples: str) -> None:
    roots = {"auditd": package_root(tmp_path, examples)}
    profile = catalogue.load("audit-samples", roots.__getitem__)
    assert profile.controls[0] == AuditDaemon(8192, ("--backlog_wait_time 60000",))
    assert rules_of(profile) == SAMPLES["30-stig.rules"].splitlines()
    assert "31-privileged.rules: it contains no rule, only comments" in profile.notes


def test_the_samples_need_their_package() -> None:
    (problem,) = problems_of("audit-samples")
    assert problem.message == "the Debian package auditd is not available here"
    assert problem.place is not None
    assert problem.place.file == "audit-samples.toml"


def test_controls_are_listed_with_profile_and_mechanism(tmp_path: Path) -> None:
    packaged = {
        "audit-samples",
        "cis-audit",
        "rhel9-cis",
        "rhel9-ospp",
        "rhel9-stig",
        "rhel9-stig-audit",
        "stig-full",
    }
    assert {profile for profile, _, _ in catalogue.controls()} == {*catalogue.names()} - packaged
    root = package_root(tmp_path)
    listed = catalogue.controls(lambda _package: root)
    assert listed[:2] == (
        ("audit-samples", "audit", "auditd"),
        ("audit-samples", "audit", "-w /etc/group -p wa -k identity"),
    )


def test_a_file_of_rules_is_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "my.rules"
    path.write_text("-i\n-w /etc/x\n-w /var/log/faillock\n")
    profile = catalogue.load(str(path))
    assert (profile.name, profile.source) == (str(path), str(path))
    assert profile.controls[0] == AuditDaemon(tolerant=True)
    assert rules_of(profile) == ["-w /etc/x", "-w /var/log/faillock"]
    assert len(profile.notes) == 1


def test_a_folder_of_rules_is_a_profile(tmp_path: Path) -> None:
    (tmp_path / "20-b.rules").write_text("-w /b\n")
    (tmp_path / "3-a.rules").write_text("-w /a\n")
    assert rules_of(catalogue.load(str(tmp_path))) == ["-w /a", "-w /b"]


def test_a_toml_file_is_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text('title = "Mine"\nprofile = "stig-reduced"\nsysctl."kernel.x" = 1\n')
    profile = catalogue.load(str(path))
    assert profile.title == "Mine"
    assert isinstance(profile.controls[0], AuditDaemon)
    assert profile.controls[-1] == Sysctl("kernel.x", "1")


def test_an_unknown_name_gets_a_hint() -> None:
    (problem,) = problems_of("stig-redused")
    assert problem.message == "there is no profile 'stig-redused', and no such file or folder"
    assert problem.hint == "did you mean 'stig-reduced'?"


@pytest.mark.parametrize(
    "name", ["", "a\0b", "x.toml/y", "x" * 5000, "/dev/null", "/nonexistent/x.toml"]
)
def test_a_name_that_leads_nowhere_is_an_error_and_no_crash(name: str) -> None:
    assert problems_of(name)


def test_all_faults_of_a_rules_file_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "bad.rules"
    path.write_text("nonsense\n-w /x\n-q\n")
    assert [str(problem.place) for problem in problems_of(str(path))] == [
        f"{path}:1:1",
        f"{path}:3:1",
    ]


def test_a_profile_without_controls_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "empty.toml"
    path.write_text('title = "Nothing"\n')
    assert [problem.message for problem in problems_of(str(path))] == [
        "the profile has no controls"
    ]


def test_a_profile_that_is_part_of_itself_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "loop.toml"
    path.write_text('title = "Loop"\nprofile = "loop.toml"\n')
    (problem,) = problems_of(str(path))
    assert problem.message == f"the profile {path} includes itself"


def test_there_is_a_profile_for_each_group_of_kernel_options_and_one_of_all() -> None:
    slugs = [group.slug for group in groups()]
    # Some options depend on what no lean kernel has.
    kernel = Kernel("lean", tolerant=True)
    for slug in slugs:
        profile = catalogue.load(slug)
        assert profile.controls == (kernel, *group_controls(slug))
        assert profile.notes == notes_on_gone(slug)
        assert profile.source
    everything = catalogue.load("kspp")
    assert everything.controls == (kernel, *all_controls())
    assert everything.notes == notes_on_gone()
    assert {*slugs, "kspp"} <= set(catalogue.names())


def test_a_profile_may_change_options_of_another(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text('title = "Mine"\nprofile = "kspp"\nkconfig = ["DEVMEM=y"]\n')
    options = {one.name for one in catalogue.load(str(path)).controls}
    assert "DEVMEM=y" in options
    assert "DEVMEM=n" not in options
