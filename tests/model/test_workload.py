"""The text of workloads and metrics is read as what it was made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.model.workload import MetricId, Workload, metric_among, metric_of, workload_of

COPIES = Workload("filecopy", (("concurrency", "4"), ("files", "all")))


@pytest.mark.parametrize(
    ("workload", "text"),
    [
        (Workload("syscalls"), "syscalls"),
        (COPIES, "filecopy concurrency=4 files=all"),
        (Workload("command", (("args", "-a=b"),)), "command args=-a=b"),
        (Workload("command", (("args", ""),)), "command args="),
        (
            Workload("command", (("file", "/opt/my prog"), ("a", "b"))),
            "command file=/opt/my prog a=b",
        ),
    ],
)
def test_a_workload(workload: Workload, text: str) -> None:
    assert str(workload) == text
    assert workload_of(text) == workload


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (MetricId("open"), "open"),
        (MetricId("wall", COPIES), "filecopy concurrency=4 files=all wall"),
    ],
)
def test_a_metric(metric: MetricId, text: str) -> None:
    assert str(metric) == text
    assert metric_of(text) == metric


def test_a_metric_names_its_workload_among_several() -> None:
    assert metric_among([COPIES], COPIES, "wall") == MetricId("wall")
    assert metric_among([COPIES, Workload("dd")], COPIES, "wall") == MetricId("wall", COPIES)


@given(st.text())
def test_any_text_is_a_workload_and_a_metric_of_that_text(text: str) -> None:
    assert str(workload_of(text)) == text
    assert str(metric_of(text)) == text
