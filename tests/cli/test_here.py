"""`hardcost here` prints what it found without anything that could act on a terminal."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
import tomli_w
from click.testing import CliRunner

from auditrules.model.rule import Rule
from hardcost.cli.command import hardcost
from hardcost.mechanisms.audit import AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.prices.listed import listed
from hardcost.profiles import benchmark_ids

KNOWN = {one.name for one in listed()}

HOSTILE = "\x1b[2J\u202e\u200b"


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html"])
def test_hostile_names_print_clean(tmp_path: Path, form: str) -> None:
    root = tmp_path / f"root{HOSTILE}"
    for path, text in {
        "etc/audit/rules.d/b.rules": f"-w /tmp/{HOSTILE}x -p wa -k {HOSTILE}\n-w {HOSTILE}\n",
        f"etc/audit/rules.d/{HOSTILE}.rules": "-w /etc/shadow -p wa\n",
        f"etc/sysctl.d/{HOSTILE}.conf": f"kernel.sysrq=0\nkernel.x={HOSTILE}\n{HOSTILE}\n",
        "etc/default/grub": f'GRUB_CMDLINE_LINUX="{HOSTILE} init_on_free=1"\n',
        "etc/fstab": f"/dev/b /{HOSTILE} ext4 noexec 0 0\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    ended = CliRunner().invoke(hardcost, ["here", "--root", str(root), "--format", form])
    assert ended.exit_code == 0, ended.output
    assert "init_on_free=1" in ended.stdout
    if form != "json":
        assert ended.stdout.replace("\n", "").isprintable()
        assert ended.stderr.replace("\n", "").isprintable()
    else:
        assert ended.stdout.isascii()


def test_a_root_whose_name_is_no_text_makes_a_profile(tmp_path: Path) -> None:
    root = tmp_path / os.fsdecode(b"u\xff")
    (root / "etc/sysctl.d").mkdir(parents=True)
    (root / "etc/sysctl.d/a.conf").write_text("kernel.sysrq = 0\n")
    profile = tmp_path / "u.toml"
    ended = CliRunner().invoke(hardcost, ["here", "--root", str(root), "-o", str(profile)])
    assert ended.exit_code == 0, ended.output
    assert "kernel.sysrq" in profile.read_text("utf-8")


PLACES = {
    "audit": ("augenrules", "etc/audit/rules.d"),
    "sysctl": ("sysctl", "etc/sysctl.d/60-hardening.conf"),
    "boot": ("cmdline", "etc/default/grub.d/hardening.cfg"),
}
"""Where a machine would have what an export writes, by the key of a profile."""


def exported(root: Path, profile: Path, keys: Iterable[str]) -> None:
    """Write what `hardcost export` makes of a profile where a machine would have it."""
    for verb, to in (PLACES[one] for one in keys):
        (root / to).parent.mkdir(parents=True, exist_ok=True)
        ended = CliRunner().invoke(
            hardcost, ["export", verb, str(profile), "-o", str(root / to), "--force"]
        )
        assert ended.exit_code == 0, ended.output


@pytest.mark.parametrize("product", ["rhel9", "ubuntu2204", "ubuntu2404"])
def test_all_that_an_export_writes_is_found_with_its_line(tmp_path: Path, product: str) -> None:
    """Sysctls, boot parameters and rules of a product's benchmarks: applied, found, with place."""
    tables = benchmark_ids.tables_of(product, "sysctl", "boot", "audit")
    sysctls = {key: str(value) for it in tables for key, value in it.get("sysctl", {}).items()}
    words = dict.fromkeys(word for it in tables for word in it.get("boot", ()))
    rules = dict.fromkeys(rule for it in tables for rule in it.get("audit", {}).get("rules", ()))
    profile = tmp_path / "profile.toml"
    of = {"boot": list(words), "sysctl": sysctls, "audit": {"rules": list(rules)}}
    profile.write_text(tomli_w.dumps(of))
    root = tmp_path / "root"
    exported(root, profile, [key for key, value in of.items() if value])
    ended = CliRunner().invoke(
        hardcost, ["here", "--root", str(root), "--format", "json", "--against", str(profile)]
    )
    assert ended.exit_code == 0, ended.output
    found = json.loads(ended.stdout)
    placed = {one["name"]: one["place"] for one in found["items"] if "place" in one}
    assert {name for name in placed if placed[name].startswith("/etc/sysctl.d/")} == {
        f"{key}={value}" for key, value in sysctls.items()
    }
    assert {BootParameter(one).setting for one in words if one in KNOWN} <= {
        BootParameter(name).setting for name, file in placed.items() if "grub.d" in file
    }
    in_rules_d = [name for name, file in placed.items() if file.startswith("/etc/audit/rules.d/")]
    forms = {AuditRule(Rule(one)).form for one in rules}
    assert {AuditRule(Rule(one)).form for one in in_rules_d} == forms
    assert not [one for one in found.get("missing", ()) if one["name"] in {*KNOWN, *rules}]
    assert all(one["share"] is not None or one["why"] for one in found["items"])
