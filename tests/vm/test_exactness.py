"""Counts are exact: nothing on the host moves them, and a rule costs what it costs."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from itertools import pairwise
from typing import Any

import pytest

from hardcost.plan import placebo
from tests.load import busy
from tests.studies import of_rules
from tests.vm.conftest import RULES, Command

pytestmark = pytest.mark.vm

SMALL = of_rules("small", "null+open+fork", (0, 7))
TRIALS = 2 + placebo.USUAL
"""A study's two configurations, and its placebos."""


@pytest.mark.slow
def test_load_moves_no_count_and_every_rule_costs_the_same(hardcost: Command) -> None:
    study = hardcost.write("rules.toml", RULES)
    words = ("run", study, "--workload", "syscalls calls=null+open", "--fresh")
    alone = hardcost(*words, "--format", "json")
    with busy(2):
        beside = hardcost(*words, "--format", "json")
    assert alone.raw_cells() == beside.raw_cells()

    null = alone.values("null")
    counts = (1, 10, 20, 30, 40, 50, 100, 160)
    cost = {count: null[f"rules={count}"] for count in counts}
    grown = {(cost[b] - cost[a]) / (b - a) for a, b in pairwise(counts)}
    assert len(grown) == 1
    assert min(grown) > 0
    assert cost[1] - null["rules=0"] > max(grown)
    assert null["audit-off"] < null["rules=0"] < null["rules=0 catch-all"]


def samples(command: Command) -> list[tuple[str, Any]]:
    """Return every sample in the store, of the runs in their order."""
    with contextlib.closing(sqlite3.connect(command.store)) as connection:
        rows = connection.execute("SELECT identity, body FROM records ORDER BY identity").fetchall()
    return [(identity, json.loads(body)["measured"]) for identity, body in rows]


@pytest.mark.slow
def test_a_snapshot_made_anew_gives_the_same_samples(hardcost_apart: Command) -> None:
    found = []
    for _ in range(2):
        hardcost_apart("run", hardcost_apart.write("small.toml", SMALL), "--fresh")
        found.append(samples(hardcost_apart))
        hardcost_apart.store.unlink()
        entries = hardcost_apart("image", "list", "--format", "json").data()
        (snapshot,) = [entry["name"] for entry in entries if entry["kind"] == "snapshots"]
        assert snapshot in hardcost_apart("image", "remove", snapshot[:12]).out
    assert len(found[0]) == TRIALS
    assert found[0] == found[1]


@pytest.mark.slow
@pytest.mark.lengthy
def test_seeds_give_an_interval_that_repeats_and_pairs(hardcost: Command) -> None:
    study = hardcost.write("small.toml", SMALL)
    words = ("run", study, "--seeds", "3", "--workload", "syscalls calls=null+open")
    first = hardcost(*words, "--format", "json")
    assert first.raw_cells() == hardcost(*words, "--fresh", "--format", "json").raw_cells()
    for cell in first.data()["cells"]:
        assert cell["trials"] == 3
        assert cell["low"] <= cell["value"] <= cell["high"]
    # `null` never looks at an address, so that layouts differ in nothing; the pairs cancel the rest
    null = first.cells()["rules=7", "null"]
    assert null["low"] == null["high"]
    assert null["ratio_low"] == null["ratio"] == null["ratio_high"]


@pytest.mark.slow
def test_each_perturbation_repeats_and_is_a_draw_of_its_own(hardcost: Command) -> None:
    study = hardcost.write("moving.toml", of_rules("moving", "null+fork+pipe", (0, 7)))
    for _ in range(2):
        found = hardcost("run", study, "--fresh", "--format", "json").cells()
    kept: dict[str, list[Any]] = {}
    for identity, measured in samples(hardcost):
        kept.setdefault(identity, []).append(measured)
    assert len(kept) == TRIALS
    for first, again in kept.values():
        assert first == again
        null, fork, _ = first
        assert not null["perturbed"]
        draws = [fork["samples"], *fork["perturbed"].values()]
        assert len(draws) == 5
        assert len({tuple(draw) for draw in draws}) > 1
    assert (found["rules=7", "null"]["trials"], found["rules=7", "fork"]["trials"]) == (1, 5)
    # rules cost both the same for each of their calls, whatever fork itself comes to
    assert found["rules=7", "fork"]["low"] < found["rules=7", "fork"]["high"]
    assert found["rules=7", "fork"]["difference"] > found["rules=7", "null"]["difference"] > 0


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_second_run_takes_everything_from_the_store(hardcost: Command) -> None:
    study = hardcost.write("small.toml", SMALL)
    first = hardcost("run", study, "--format", "json")
    again = hardcost("run", study, "--format", "json")
    assert f"{TRIALS} of {TRIALS} trials were measured earlier and are reused" in again.err
    assert first.raw_cells() == again.raw_cells()
    assert first.data()["run"] != again.data()["run"]
    other = hardcost("run", study, "--format", "json", "--workload", "syscalls calls=null")
    assert "in the store" not in other.err
