"""Each mechanism from its keys in TOML to the requests that it becomes, and back.

`kinds/NAME.toml` is a profile with the controls of one mechanism, `kinds/NAME.json` what becomes of
it: its controls, the boot, the requests before and after the workload, and the profile as it is
written. With `HARDCOST_REWRITE=1` in the environment the latter are written.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hardcost.mechanisms import apply
from hardcost.mechanisms.kconfig import recipe_of
from hardcost.mechanisms.registry import ALL
from hardcost.profiles import catalogue, toml_text

FOLDER = Path(__file__).parent / "kinds"
NAMED = [one for one in ALL if one.toml]
LONGEST = 100  # characters of a text that is kept as it is


@pytest.mark.parametrize("name", [one.name for one in NAMED])
def test_a_profile_becomes_requests_and_comes_back(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    profile = catalogue.load(f"{name}.toml")
    kernel = recipe_of(profile.controls)
    found = {
        "controls": {one.name: str(one.place) for one in profile.controls},
        "boot": apply.boot_parameters(profile.controls),
        "kernel": None if kernel is None else vars(kernel),
        "packages": apply.packages(profile.controls),
        "before": [one.as_json() for one in apply.requests(profile.controls)],
        "after": [one.as_json() for one in apply.finish(profile.controls)],
        "toml": toml_text.text(profile).splitlines(),
    }
    shown = json.dumps(short(found), indent=1, ensure_ascii=False) + "\n"
    kept = FOLDER / f"{name}.json"
    if "HARDCOST_REWRITE" in os.environ:
        kept.write_text(shown, encoding="utf-8")
    assert kept.read_text(encoding="utf-8") == shown
    again = tmp_path / "again.toml"
    again.write_text(toml_text.text(profile), encoding="utf-8")
    assert toml_text.text(catalogue.load(str(again))) == again.read_text(encoding="utf-8")


def short(value: Any) -> Any:  # noqa: ANN401  (JSON's values)
    """Return JSON with its long texts as digests."""
    if isinstance(value, dict):
        return {key: short(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [short(one) for one in value]
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:40]}… sha256 {hashlib.sha256(value.encode()).hexdigest()[:16]}"
    return value
