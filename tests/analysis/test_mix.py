"""The mean call of a user's mix."""

from __future__ import annotations

import pytest

from hardcost.analysis import mix
from hardcost.analysis.finding import Total
from hardcost.auditrules.cost import histogram

COUNTS = histogram.read(b'{"openat": 30, "newfstatat": 10, "getpid": 60}', "counts.json")


def test_costs_are_weighed_by_how_often_each_call_is_made() -> None:
    found = mix.of_histogram(COUNTS, ["null", "open", "stat"])
    assert found.weights == {"open": 30.0, "stat": 10.0}
    assert found.covered == pytest.approx(0.4)
    totals = [
        Total("null", "insn/op", 100, 200, 100),
        Total("open", "insn/op", 1000, 1400, 400, 8),
        Total("stat", "insn/op", 600, 600, 0),
    ]
    mean = found.with_mean(totals)[-1]
    assert (mean.metric, mean.baseline, mean.cost, mean.least) == ("mix", 900, 300, 6)


def test_where_no_call_is_measured_there_is_no_mix() -> None:
    found = mix.of_histogram(COUNTS, ["chmod"])
    totals = (Total("chmod", "insn/op", 100, 200, 100),)
    assert found.with_mean(totals) == totals


def test_with_several_workloads_the_calls_are_those_of_syscalls() -> None:
    found = mix.of_histogram(COUNTS, ["syscalls calls=open open", "build open"])
    assert list(found.weights) == ["syscalls calls=open open"]
