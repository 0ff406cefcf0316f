"""The verbs as a user types them, on this machine."""

from __future__ import annotations

import json
import subprocess

import pytest

from hardcost.machines.vm.content.initramfs import probe_binary
from hardcost.workloads import syscalls
from tests.studies import of_rules
from tests.vm.conftest import RULES, Command

pytestmark = pytest.mark.vm

STUDY = of_rules("small", "null", (0, 3))
CHMOD = "-a always,exit -F arch=b64 -S chmod -k modes"
OTHER = "-a always,exit -F arch=b64 -S swapon -F uid=70001"


def test_the_probe_measures_just_the_calls_that_are_listed() -> None:
    listed = subprocess.run([probe_binary(), "list"], check=True, capture_output=True).stdout
    assert set(json.loads(listed)["calls"]) == set(syscalls.known_calls())


def test_doctor_finds_that_this_machine_can_count(hardcost: Command) -> None:
    checks = hardcost("doctor", "--format", "json").data()
    assert all(check["ok"] for check in checks if check["needed"])
    assert "instrument insn" in {check["name"] for check in checks}


@pytest.mark.slow
def test_a_run_is_reported_and_compared_by_its_name_a_beginning_or_last(hardcost: Command) -> None:
    study = hardcost.write("small.toml", STUDY)
    first = hardcost("run", study, "--format", "json")
    name = first.data()["run"]
    assert hardcost("report", "last", "--format", "json").out == first.out
    assert hardcost("report", name, "--format", "json").out == first.out
    assert hardcost("report", "small", "--format", "json").out == first.out
    assert "rules=3" in hardcost("report", "last", "--report", "my.html").out
    assert "rules=3" in (hardcost.folder / "my.html").read_text()

    second = hardcost("run", study, "--fresh", "--format", "json").data()["run"]
    compared = hardcost("compare", name, "last", "--format", "json").data()
    assert compared["run"] == second
    assert {cell["ratio"] for cell in compared["cells"]} == {1.0}
    assert "2 the same to the last digit" in hardcost("compare", name, second).out
    assert "names 2 runs" in hardcost("report", "small", status=2).err
    assert "names no run" in hardcost("compare", "last", "nothing", status=2).err


def test_what_is_done_with_a_run_from_its_report_to_its_removal(hardcost: Command) -> None:
    assert hardcost("list", "runs", "--format", "json").data() == []
    words = ("run", hardcost.write("small.toml", STUDY), "--format", "json")
    first = hardcost(*words)
    run = first.data()["run"]
    assert hardcost("report", run, "--format", "json").out == first.out
    (row,) = hardcost("list", "runs", "--format", "json").data()
    assert row["run"] == run
    assert row["finished"] >= row["started"]
    assert run in hardcost("list", "runs").out
    checked = hardcost("runs", "check", run, "--format", "json").data()
    assert ([one["name"] for one in checked["runs"]], checked["damaged"]) == ([run], [])
    hardcost("export", "runs", "-o", "runs.csv")
    assert run in (hardcost.folder / "runs.csv").read_text()

    again = hardcost(*words).data()["run"]
    compared = hardcost("compare", run, "last", "--format", "json").data()
    assert (compared["run"], {cell["ratio"] for cell in compared["cells"]}) == (again, {1.0})
    for one in (run, again):
        hardcost("runs", "remove", one)
    assert hardcost("list", "runs", "--format", "json").data() == []


def test_what_is_advised_keeps_within_the_budget(hardcost: Command) -> None:
    rules = hardcost.write("two.rules", "".join(f"{rule}\n" for rule in (CHMOD, OTHER)))
    words = ("--workload", "syscalls calls=chmod", "--budget", "chmod<=100%", "--format", "json")
    choice = hardcost("advise", rules, *words).data()["choice"]
    assert [one["control"] for one in choice["given_up"]] == [CHMOD]
    ((before,), (after,)) = choice["before"], choice["after"]
    assert before["share"] > 1 >= after["share"] > 0


def test_a_dry_run_prints_the_plan_and_boots_nothing(hardcost_apart: Command) -> None:
    study = hardcost_apart.write("rules.toml", RULES)
    for words, trials in (
        (("run", study), 27),
        (("bill", "stig-reduced", "--method", "single"), 111),
    ):
        plan = hardcost_apart(*words, "--dry-run", "--format", "json").data()
        assert len(plan["trials"]) == trials
        assert plan["expected_seconds"] is None  # nothing was measured here yet
        (stage,) = [one for one in plan["expected"] if one["stage"] == "trials"]
        once = len({trial["identity"] for trial in plan["trials"]})  # idle-rules:0 is the baseline
        assert (stage["count"], stage["high_seconds"]) == (once, None)
        text = hardcost_apart(*words, "--dry-run").out
        assert f"{trials} trials" in text
        assert "unknown yet" in text or "at least" in text
        assert all(trial["identity"][:12] in text for trial in plan["trials"])
    assert not hardcost_apart.store.exists()
    entries = hardcost_apart("image", "list", "--format", "json").data()
    assert {entry["kind"] for entry in entries} == {"packages", "kernels", "guests"}


def test_images_are_listed_and_removed(hardcost_apart: Command) -> None:
    entries = hardcost_apart("image", "list", "--format", "json").data()
    text = hardcost_apart("image", "list").out
    assert all(entry["name"] in text for entry in entries)
    hardcost_apart("image", "remove", status=2)
    hardcost_apart("image", "remove", "no-such-name", status=2)
    hardcost_apart("image", "remove", entries[0]["name"])
    left = hardcost_apart("image", "list", "--format", "json").data()
    assert left == [entry for entry in entries if entry != entries[0]]
    hardcost_apart("image", "remove", "--all")
    assert hardcost_apart("image", "list", "--format", "json").data() == []


@pytest.mark.parametrize("words", ["list profiles", "list profiles --format json", "--help"])
def test_a_reader_that_goes_away_is_no_error(hardcost: Command, words: str) -> None:
    process = hardcost.start(*words.split(), under=("sh", "-c", 'exec "$@" | true', "sh"))
    assert not hardcost.end(process).err


def test_a_full_device_for_the_result_is_an_error(hardcost: Command) -> None:
    words = ("list", "profiles")
    process = hardcost.start(*words, under=("sh", "-c", 'exec "$@" > /dev/full', "sh"))
    outcome = hardcost.end(process)
    assert outcome.status == 3
    assert "No space left" in outcome.err


@pytest.mark.slow
def test_time_is_read_several_times_and_says_whose_time_it_is(hardcost: Command) -> None:
    study = hardcost.write("small.toml", STUDY)
    outcome = hardcost("run", study, "--instrument", "time", "--format", "json")
    result = outcome.data()
    assert result["instrument"] == "time"
    for cell in result["cells"]:
        assert cell["trials"] == 5
        assert cell["unit"] == "ns/op"
        assert 0 < cell["low"] < cell["value"] < cell["high"]
    emulated = result["environment"]["acceleration"] != "kvm"
    assert emulated == any("an emulator's" in note for note in result["notes"])
