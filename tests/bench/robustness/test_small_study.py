"""What benchmarks damage and remove is theirs."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from bench.robustness.small_study import own_cache


def test_a_cache_that_benchmarks_damage_is_new_or_was_theirs_before(tmp_path: Path) -> None:
    cache = own_cache(str(tmp_path / "new"))
    (cache / "kernels").mkdir()
    assert own_cache(str(cache)) == cache
    (tmp_path / "empty").mkdir()
    assert own_cache(str(tmp_path / "empty")).is_dir()


def test_a_cache_with_anything_else_in_it_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "kernels").mkdir()
    with pytest.raises(ArgumentTypeError, match="holds something else"):
        own_cache(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["kernels"]
