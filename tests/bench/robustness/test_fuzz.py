"""The fuzzers run: in a moment of each, and in a second, none finds a traceback, a hang or a flood.

A flood is one of memory. `make test` has the moment, `make test-slow` the second.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.robustness.fuzz.campaign import MOST_MEMORY, Target, fuzz
from bench.robustness.fuzz.targets import TARGETS
from hardcost.errors import InputError


@pytest.mark.parametrize("seconds", [0.05, pytest.param(1.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_while_of_each_finds_nothing(name: str, seconds: float, tmp_path: Path) -> None:
    result = fuzz(TARGETS[name], 0, seconds, tmp_path)
    assert result.findings == {}
    assert result.executions > 0


def refused(data: bytes) -> None:
    raise InputError(repr(data))


def broken(data: bytes) -> None:
    raise KeyError(data)


def greedy(data: bytes) -> None:
    _ = data * MOST_MEMORY


@pytest.mark.parametrize(
    ("run", "found"), [(refused, []), (broken, ["KeyError"]), (greedy, ["MemoryError"])]
)
def test_what_is_no_refusal_is_found_with_its_input(
    run: object, found: list[str], tmp_path: Path
) -> None:
    target = Target("x", lambda: [b"xx"], [lambda _, data: data], run, (InputError,))  # type: ignore[arg-type]
    result = fuzz(target, 0, 0.05, tmp_path)
    assert [what.partition(": ")[2].partition(",")[0] for what in result.findings] == found
    assert all(file.read_bytes() == b"xx" for file in result.findings.values())
    assert all(
        "python -m bench.robustness.fuzz --target x" in one.with_suffix(".txt").read_text()
        for one in result.findings.values()
    )
