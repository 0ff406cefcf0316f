"""Words of the kernel's command line: added to all that is compared."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.library import gate, run
from hardcost.library.gate import GateRequest
from hardcost.library.measurement import Foreseen, Measuring
from hardcost.library.run import RunRequest
from hardcost.mechanisms.boot import BootParameter
from hardcost.profiles.settings import Settings

HOW = Measuring(machine="fake")
STUDY = """
title = "Mine"
workloads = ["syscalls calls=null"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "on"
boot = ["init_on_alloc=1"]
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "x.sqlite"))
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    (tmp_path / "mine.toml").write_text(STUDY)


def words(foreseen: Foreseen) -> dict[str, list[str]]:
    """Return the boot parameters of each configuration."""
    return {
        one.name: [it.name for it in one.controls if isinstance(it, BootParameter)]
        for one in foreseen.plan.configurations
    }


def test_in_a_study_each_configuration_gets_the_words_once() -> None:
    boot = ("mitigations=off", "init_on_alloc=1", "mitigations=off")
    foreseen = run.preview(RunRequest("mine.toml", boot=boot, how=HOW))
    found = words(foreseen)
    assert found["none"] == ["mitigations=off", "init_on_alloc=1"]
    assert found["on"] == ["init_on_alloc=1", "mitigations=off"]
    assert "in each configuration: mitigations=off and init_on_alloc=1" in foreseen.plan.notes


def test_a_study_without_words_is_what_it_was() -> None:
    plain = run.preview(RunRequest("mine.toml", how=HOW))
    assert words(plain)["none"] == []
    under = run.preview(RunRequest("mine.toml", boot=("mitigations=off",), how=HOW))
    both = [{one.identity for one in each.prepared} for each in (plain, under)]
    assert not both[0] & both[1]


def test_several_words_in_one_are_refused() -> None:
    with pytest.raises(InputError, match="`boots`: "):
        run.preview(RunRequest("mine.toml", boot=("a=1 b=2",), how=HOW))


def test_of_a_gate_both_states_get_the_words() -> None:
    rule = "-a always,exit -F arch=b64 -S open -k "
    request = GateRequest(
        f"{rule}a", f"{rule}b", settings=Settings(boots=("mitigations=off",)), how=HOW
    )
    foreseen = gate.preview(request)
    assert isinstance(foreseen, Foreseen)
    found = words(foreseen)
    assert found["base"] == found["profile"] == ["mitigations=off"]


def test_a_prediction_takes_no_words() -> None:
    rule = "-a always,exit -F arch=b64 -S open -k a"
    settings = Settings(boots=("mitigations=off",))
    with pytest.raises(InputError, match="`boots` is for profiles that are measured"):
        gate.gate(GateRequest(rule, rule, settings=settings, predict=True, how=HOW))
