"""The mean call of a user's mix."""

from __future__ import annotations

import pytest

from auditrules.cost import histogram
from hardcost.analysis.bill import mix
from hardcost.model.finding.bill import Total
from hardcost.model.workload import MetricId, metric_of

COUNTS = histogram.read(b'{"openat": 30, "newfstatat": 10, "getpid": 60}', "counts.json")


def test_costs_are_weighed_by_how_often_each_call_is_made() -> None:
    found = mix.of_histogram(COUNTS, [MetricId("null"), MetricId("open"), MetricId("stat")])
    assert found.weights == {MetricId("open"): 30.0, MetricId("stat"): 10.0}
    assert found.covered == pytest.approx(0.4)
    totals = [
        Total(MetricId("null"), "insn/op", 100, 200, 100),
        Total(MetricId("open"), "insn/op", 1000, 1400, 400, 8),
        Total(MetricId("stat"), "insn/op", 600, 600, 0),
    ]
    mean = found.with_mean(totals)[-1]
    assert (str(mean.metric), mean.baseline, mean.cost, mean.least) == ("mix", 900, 300, 6)


def test_where_no_call_is_measured_there_is_no_mix() -> None:
    found = mix.of_histogram(COUNTS, [MetricId("chmod")])
    totals = (Total(MetricId("chmod"), "insn/op", 100, 200, 100),)
    assert found.with_mean(totals) == totals


def test_with_several_workloads_the_calls_are_those_of_syscalls() -> None:
    found = mix.of_histogram(
        COUNTS, [metric_of("syscalls calls=open open"), metric_of("build open")]
    )
    assert list(map(str, found.weights)) == ["syscalls calls=open open"]
