"""One resolver of arguments for all verbs: what may be named, wherever it stands."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from auditrules.library.arguments import parts
from hardcost.cli.command import hardcost
from hardcost.errors import InputError
from hardcost.library.profiles import profile_named
from hardcost.library.rules.profile_caller import ProfileCaller
from hardcost.measure.monitor import Silent

RULE = "-w /etc/passwd -p wa -k identity"
DATASTREAM = """\
<Benchmark xmlns="http://checklists.nist.gov/xccdf/1.2" id="xccdf_x_benchmark_y">
  <Profile id="xccdf_x_profile_mini"><title>A small one</title>
    <select idref="xccdf_x_rule_audit_rules_it" selected="true"/></Profile>
  <Rule id="xccdf_x_rule_audit_rules_it" selected="false" severity="medium"><title>It</title>
    <fix system="urn:xccdf:fix:script:sh">
cat &lt;&lt; 'EOF' &gt; /etc/audit/rules.d/it.rules
-w /etc/passwd -p wa -k identity
EOF
</fix></Rule>
</Benchmark>
"""


@pytest.fixture
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make one rule by each kind of name."""
    (tmp_path / "my.rules").write_text(f"{RULE}\n")
    (tmp_path / "rules.d").mkdir()
    (tmp_path / "rules.d" / "a.rules").write_text(f"{RULE}\n")
    (tmp_path / "mine.toml").write_text(f'[audit]\nrules = ["{RULE}"]\n')
    (tmp_path / "90.conf").write_text("kernel.kptr_restrict = 2\n")
    (tmp_path / "ds.xml").write_text(DATASTREAM)
    monkeypatch.chdir(tmp_path)


def on_input(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


KINDS = ["my.rules", "rules.d", "mine.toml", "ds.xml:mini", "-", RULE, f" {RULE}"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("named")
def test_each_kind_of_name_is_the_same_profile_and_the_same_rules(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_input(monkeypatch, f"{RULE}\n")
    assert [one.name for one in profile_named(kind).controls][1:] == [RULE]
    on_input(monkeypatch, f"{RULE}\n")
    ((lines, faults),) = parts([kind], ProfileCaller(Silent()))
    assert [one.rule.text for one in lines if one.rule is not None] == [RULE]
    assert not faults


@pytest.mark.usefixtures("named")
def test_standard_input_may_be_sysctls_or_toml(monkeypatch: pytest.MonkeyPatch) -> None:
    on_input(monkeypatch, "# ours\nkernel.kptr_restrict = 2\n")
    assert [one.name for one in profile_named("-").controls] == ["kernel.kptr_restrict=2"]
    on_input(monkeypatch, 'boot = ["init_on_alloc=1"]\n')
    assert [one.name for one in profile_named("-").controls] == ["init_on_alloc=1"]


def test_quoted_rules_have_lines_of_their_own() -> None:
    read = parts([RULE, "-w /etc/group -p wa", "-w /x -p"], ProfileCaller(Silent()))
    places = [str(one.place) for lines, _ in read for one in lines]
    assert places == ["the command line:1", "the command line:2", "the command line:3"]
    assert read[2][0][0].fault is not None
    assert read[2][0][0].fault.place.line == 3


@pytest.mark.parametrize(
    ("argument", "said", "hint"),
    [
        ("90.conf", "has no audit rules", "`hardcost bill 90.conf` measures its 1 sysctl"),
        ("kernel.kptr_restrict=2", "has no audit rules", "hardcost bill kernel.kptr_restrict=2"),
        ("kspp", "has no audit rules", "89 kernel options"),
        ("ds.xml", "is a SCAP datastream with 1 profile", "ds.xml:mini"),
    ],
)
@pytest.mark.usefixtures("named")
def test_what_rules_can_not_take_is_refused_with_the_verb_that_can(
    argument: str, said: str, hint: str
) -> None:
    with pytest.raises(InputError, match=said) as error:
        parts([argument], ProfileCaller(Silent()))
    assert hint in str(error.value.problems[0].hint)


def test_a_study_is_no_profile() -> None:
    with pytest.raises(InputError, match="is a study") as error:
        profile_named("kconfig")
    assert error.value.problems[0].hint == "`hardcost run kconfig` runs it"


def test_standard_input_is_read_once() -> None:
    with pytest.raises(InputError, match="only once"):
        parts(["-", "-"], ProfileCaller(Silent()))


RULES_VERBS = {
    "cost": [RULE],
    "lint": [RULE],
    "explain": ["--event", "syscall=open path=/etc/passwd perm=w", RULE],
    "prove": [RULE, "--ignore-keys", f"{RULE}2"],
    "optimize": ["-o", "-", RULE, "-a always,exit -F arch=b64 -S chmod"],
}


@pytest.mark.parametrize("verb", RULES_VERBS)
def test_a_rule_in_quotes_needs_no_dashes_before_it(verb: str) -> None:
    ran = CliRunner().invoke(hardcost, ["rules", verb, *RULES_VERBS[verb]])
    assert ran.exit_code in {0, 1}, ran.output
    assert ran.exception is None or isinstance(ran.exception, SystemExit)


@pytest.mark.parametrize("verb", ["bill", "hotspots", "advise", "trace", "gate"])
def test_verbs_that_measure_take_a_rule_in_quotes(verb: str, tmp_path: Path) -> None:
    more = {"trace": ["--call", "open"], "gate": ["kernel.kptr_restrict=2"]}.get(verb, [])
    words = [verb, "--machine", "fake", RULE, *more, "--dry-run", "--store", str(tmp_path / "s")]
    ran = CliRunner().invoke(hardcost, words)
    assert ran.exit_code == 0, ran.output
    assert "trial" in ran.output


def test_a_rule_without_quotes_is_told_to_have_them() -> None:
    ran = CliRunner().invoke(hardcost, ["rules", "cost", *RULE.split()])
    assert ran.exit_code == 2
    assert "put all of it in quotes" in ran.output


def test_export_takes_what_bill_takes(tmp_path: Path) -> None:
    out = tmp_path / "rules.d"
    ran = CliRunner().invoke(hardcost, ["export", "augenrules", RULE, "-o", str(out)])
    assert ran.exit_code == 0, ran.output
    assert RULE in (out / "50-hardcost.rules").read_text()
    with pytest.raises(InputError) as error:
        CliRunner().invoke(hardcost, ["export", "sysctl", RULE, "-o", "-"], catch_exceptions=False)
    assert "`hardcost export augenrules`" in str(error.value.problems[0].hint)
