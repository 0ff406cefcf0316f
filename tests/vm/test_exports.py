"""An exported folder of rules, loaded by the real auditctl of a guest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.vm.conftest import Command

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
