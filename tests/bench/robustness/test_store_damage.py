"""A fixed sample of the rounds of `bench/robustness/damage.py`: no number changes silently."""

from __future__ import annotations

import random

import pytest

from bench.robustness.store_damage import WAYS, StoreRounds

ROUNDS = 2  # of each way


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> StoreRounds:
    return StoreRounds(tmp_path_factory.mktemp("store") / "rounds")


@pytest.mark.parametrize("way", WAYS)
def test_no_number_of_a_damaged_store_changes_unsaid(rounds: StoreRounds, way: str) -> None:
    chance = random.Random(f"6 {way}")  # noqa: S311  (no secret)
    came = [rounds.round(way, chance) for _ in range(ROUNDS)]
    assert [(what, wrong) for what, wrong in came if what == "WRONG"] == []
    if way in {"rows exchanged", "row copied", "run renamed", "file cut"}:
        assert "no part" not in {what for what, _ in came}
