"""What set-up took is remembered, whatever becomes of the file."""

from pathlib import Path

from hardcost.supply.cache import setup_times
from hardcost.supply.cache.cache import Cache


def test_what_was_remembered_comes_back_newest_last(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert not setup_times.past_seconds(cache)
    setup_times.remember(cache, "boot small", 3.5)
    setup_times.remember(cache, "image", 240)
    setup_times.remember(cache, "boot small", 2.0)
    assert setup_times.past_seconds(cache) == {"boot small": [3.5, 2.0], "image": [240.0]}


def test_damaged_lines_are_passed_over(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    setup_times.remember(cache, "image", 240)
    with (tmp_path / "took.jsonl").open("ab") as file:
        file.write(b'\xff\n[]\n7\n{"what": "image"}\n{"what": "image", "seconds": "x"}\n')
    setup_times.remember(cache, "image", 250)
    assert setup_times.past_seconds(cache) == {"image": [240.0, 250.0]}


def test_a_cache_that_cant_be_written_is_no_error(tmp_path: Path) -> None:
    setup_times.remember(Cache(tmp_path / "missing"), "image", 1)
    assert not (tmp_path / "missing").exists()
