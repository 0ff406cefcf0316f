from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditrules.read import parse
from hardcost.cli.command import hardcost
from hardcost.errors import InputError
from hardcost.profiles import catalogue

STREAM = """<?xml version="1.0"?>
<x:Benchmark xmlns:x="http://checklists.nist.gov/xccdf/1.2">
  <x:Profile id="xccdf_org.example_profile_p"><x:title>The p</x:title></x:Profile>
  <x:Profile id="xccdf_org.example_profile_none">
    <x:select idref="a" selected="false"/>
    <x:select idref="b" selected="false"/>
  </x:Profile>
  <x:Rule id="a"><x:fix system="urn:xccdf:fix:script:sh">
cat &lt;&lt; EOF &gt; /etc/audit/rules.d/x.rules
-w /etc/passwd -p wa -k id
-b 99
EOF
  </x:fix></x:Rule>
  <x:Rule id="b"><x:description>-w /y in /etc/audit/rules.d/x.rules</x:description></x:Rule>
  <x:Rule id="c"/>
</x:Benchmark>
"""
NOTES = [
    "b: it has no shell script with its lines",
    "1 of the benchmark profile's 3 rules has controls here",
    "1 rule (not priced): not imported: it has no shell script with its lines",
    "1 rule (not priced): unknown kind: hardcost does not know what such a rule costs",
]


def run(*words: str) -> Result:
    return CliRunner().invoke(hardcost, ["import", *words])


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "ds.xml"
    path.write_text(STREAM)
    return path


def test_a_scap_profile_becomes_a_profile_that_can_be_loaded(stream: Path, tmp_path: Path) -> None:
    output = tmp_path / "p.toml"
    result = run("scap", str(stream), "--scap-profile", "p", "-o", str(output))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [f"2 controls in {output}", *NOTES]
    profile = catalogue.load(str(output))
    assert profile.title == "The p"
    assert [one.name for one in profile.controls] == ["auditd", "-w /etc/passwd -p wa -k id"]
    assert list(profile.notes) == NOTES
    assert profile.controls[1].ids == ("a",)


def test_a_tailoring_file_changes_the_profile(stream: Path, tmp_path: Path) -> None:
    tailoring = tmp_path / "t.xml"
    tailoring.write_text(
        '<Tailoring xmlns="http://checklists.nist.gov/xccdf/1.2"><Profile id="own" '
        'extends="xccdf_org.example_profile_p"><select idref="b" selected="false"/></Profile>'
        "</Tailoring>"
    )
    words = ("scap", str(stream), "--scap-profile", "own", "--tailoring", str(tailoring))
    result = run(*words)
    assert "of the benchmark profile's 2 rules" in result.stderr
    rules = tmp_path / "p.rules"
    assert run(*words, "-o", str(rules)).exit_code == 0
    assert "not imported" not in rules.read_text()
    again = run(*words, "-o", str(tailoring))
    assert isinstance(again.exception, InputError)


def test_an_output_in_rules_is_a_file_of_rules(stream: Path, tmp_path: Path) -> None:
    output = tmp_path / "p.rules"
    assert run("scap", str(stream), "--scap-profile", "p", "-o", str(output)).exit_code == 0
    assert parse.read([output]).backlog_limit == 99
    assert "\n# a\n-b 99\n-w /etc/passwd -p wa -k id\n" in output.read_text()


def test_a_scap_profile_without_audit_rules_makes_no_profile(stream: Path) -> None:
    result = run("scap", str(stream), "--scap-profile", "none", "-o", "x.rules")
    assert isinstance(result.exception, InputError)
    assert str(result.exception) == "the profile none requires no audit rules"
    result = run("scap", str(stream), "--scap-profile", "none")
    assert isinstance(result.exception, InputError)
    assert "hardcost has a control for none of the 1 rule of none" in str(result.exception)


def test_a_folder_of_rules_becomes_one_profile_in_the_order_of_loading(tmp_path: Path) -> None:
    folder = tmp_path / "rules.d"
    folder.mkdir()
    (folder / "10-a.rules").write_text("-w /a\n-e 1\n# no rule\n-b 5\n")
    (folder / "9-b.rules").write_text("-b 4\n-w /b -k 'x\n")
    result = run("audit", str(folder))
    assert result.exit_code == 0
    output = tmp_path / "own.toml"
    output.write_text(result.stdout)
    profile = catalogue.load(str(output))
    assert [one.name for one in profile.controls] == ["auditd", "-w /b -k 'x", "-w /a"]
    rules = tmp_path / "own.rules"
    assert run("audit", str(folder), "-o", str(rules)).exit_code == 0
    lines = [line for line in rules.read_text().splitlines() if line.startswith("-")]
    assert lines == ["-b 5", "-w /b -k 'x", "-w /a", "-e 1"]


def test_faults_of_rules_are_reported_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-w /a -Z\n-w /b\nnonsense\n")
    result = run("audit", str(path))
    assert isinstance(result.exception, InputError)
    assert [one.place.line for one in result.exception.problems if one.place] == [1, 3]


@pytest.mark.parametrize("output", ["d/a.rules", "d/b.rules"])
def test_rules_are_not_written_over_nor_beside_themselves(tmp_path: Path, output: str) -> None:
    folder = tmp_path / "d"
    folder.mkdir()
    written = "# why\n-w /etc/passwd -p wa -k id\n"
    (folder / "a.rules").write_text(written)
    source = folder / "a.rules" if output == "d/a.rules" else folder
    words = ["import", "audit", str(source), "-o", str(tmp_path / output)]
    result = CliRunner().invoke(hardcost, words)
    assert isinstance(result.exception, InputError)
    assert "lies among" in str(result.exception)
    assert [path.read_text() for path in folder.iterdir()] == [written]


def test_sysctls_become_a_profile_that_can_be_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "sysctl.d"
    folder.mkdir()
    (folder / "1.conf").write_text("kernel.x = 1\nkernel.y = 1\n")
    (folder / "2.conf").write_text("kernel/x = 2\n")
    output = tmp_path / "p.toml"
    result = run("sysctl", str(folder), "-o", str(output))
    assert (result.exit_code, result.stdout) == (0, "")
    first, overridden = result.stderr.splitlines()
    assert first == f"2 sysctls in {output}"
    assert overridden.startswith(f"{folder}/1.conf:1: kernel.x=1 is overridden")
    names = [one.name for one in catalogue.load(str(output)).controls]
    assert names == ["kernel.y=1", "kernel/x=2"]
    refused = run("sysctl", str(folder), "-o", str(folder / "3.conf"))
    assert isinstance(refused.exception, InputError)
