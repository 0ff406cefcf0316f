"""A sample of the planted errors: none becomes a cost, whatever rules are wrong."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bench.accuracy.planted_errors import KINDS, Bench, errors, fake_bench

DRAWS = 2


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return fake_bench(tmp_path_factory.mktemp("bench") / "truth.sqlite")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nth", range(DRAWS))
def test_wrong_predictions_are_found(kind: str, nth: int, bench: Bench, tmp_path: Path) -> None:
    planted = errors(kind, bench.truth.controls, Random(f"{kind} {nth}"))  # noqa: S311
    wrong, found = bench.draw(planted, tmp_path / "runs.sqlite")
    assert wrong == ()
    if found.verification is not None:
        assert planted.keys() <= set(found.verification.wrong)
    else:
        assert len(planted) > 3
