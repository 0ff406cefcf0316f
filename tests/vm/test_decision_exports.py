"""The tools that read exported decisions: oscap with a real datastream, and compliance-trestle.

No guest is booted; but the datastream's package is fetched on first use.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hardcost.cli.command import hardcost
from hardcost.profiles import catalogue
from hardcost.profiles.decision import Decision
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import package_folder
from tests.profiles.decision_files import comparable, there_and_back, without_packages

pytestmark = pytest.mark.vm

GIVEN_UP = "audit_rules_unsuccessful_file_modification_creat"
DECISION = f"""
title = "what is kept"
sysctl = {{ "kernel.kptr_restrict" = 1 }}
[[given_up]]
control = "-a always,exit -F arch=b64 -S creat -F exit=-EACCES"
ids = ["{GIVEN_UP}"]
severity = "medium"
metric = "open"
cost = 117.0
low = 115.5
high = 118.0
unit = "insn/op"
baseline = 3307.0
conditions = "bill of stig on syscalls"
[[given_up]]
control = " =\\n{{{{ x }}}}]]>\\u001b\\"'"
conditions = "]]>\\n<b>"
reason = "$(x)\\n`y`"
"""


@pytest.fixture
def decision(tmp_path: Path) -> Path:
    path = tmp_path / "decision.toml"
    path.write_text(DECISION)
    return path


def oscap(*words: str) -> str:
    return subprocess.run(
        ["oscap", "xccdf", *words], check=True, capture_output=True, text=True
    ).stdout


def fixes(*words: str) -> int:
    return oscap("generate", "fix", "--fix-type", "bash", *words).count("# BEGIN fix ")


def test_oscap_accepts_a_tailoring_and_leaves_out_what_it_unselects(
    cache_root: Path, decision: Path, tmp_path: Path
) -> None:
    package = package_folder(Cache(cache_root), "ssg-nondebian")
    stream = package / "usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml"
    out = tmp_path / "t.xml"
    words = ["tailoring", str(stream), str(decision), "--scap-profile", "stig", "-o", str(out)]
    hardcost.main(["export", *words], standalone_mode=False)
    oscap("validate", "--skip-schematron", str(out))  # it has none for tailoring files
    own = ("--tailoring-file", str(out), "--profile", "xccdf_hardcost_profile_stig_decided")
    script = oscap("generate", "fix", "--fix-type", "bash", *own, str(stream))
    whole = fixes("--profile", "xccdf_org.ssgproject.content_profile_stig", str(stream))
    assert script.count("# BEGIN fix ") == whole - 1
    assert f"content_rule_{GIVEN_UP}'" not in script


def test_profiles_whose_rules_come_with_a_package_come_back_from_a_decision(
    cache_root: Path, tmp_path: Path
) -> None:
    cache = Cache(cache_root)
    packaged = [name for name in catalogue.names() if without_packages(name) is None]
    assert "rhel9-stig" in packaged
    for name in packaged:
        profile = catalogue.load(name, lambda package: package_folder(cache, package))
        back = there_and_back(Decision(profile, ()), tmp_path)
        assert comparable(back.kept.controls) == comparable(profile.controls)


CHECK = """
import pathlib, sys
from trestle.oscal.poam import PlanOfActionAndMilestones
found = PlanOfActionAndMilestones.oscal_read(pathlib.Path(sys.argv[1]))
print(len(found.poam_items), len(found.risks), len(found.observations))
"""


@pytest.mark.slow
@pytest.mark.lengthy
def test_compliance_trestle_reads_a_plan_of_action(decision: Path, tmp_path: Path) -> None:
    # Its three dozen dependencies would pin ours; so it has an environment of its own.
    home = tmp_path / "trestle"
    python = home / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "compliance-trestle==5.2.0"], check=True)
    out = tmp_path / "poam.json"
    words = ["export", "waivers", str(decision), "-o", str(out)]
    hardcost.main(words, standalone_mode=False)
    said = subprocess.run(
        [python, "-c", CHECK, out], check=True, capture_output=True, text=True
    ).stdout
    assert said == "2 2 2\n"
    shutil.rmtree(home)
