"""A verified bill takes few trials, as docs/bills.md says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.accuracy.trials import FIRED, SIZES, limit, table, trials

DOCS = Path(__file__).parents[3] / "docs/bills.md"


def test_the_page_has_the_numbers_of_trials() -> None:
    assert "\n".join(table(SIZES, FIRED)) in DOCS.read_text()


@pytest.mark.parametrize("fired", FIRED)
@pytest.mark.parametrize("rules", SIZES)
def test_the_trials_grow_with_the_logarithm_of_the_rules(rules: int, fired: int) -> None:
    if fired <= rules:
        assert all(trials(rules, fired, seed) <= limit(rules, fired) for seed in range(3))
