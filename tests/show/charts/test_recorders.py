from __future__ import annotations

from dataclasses import replace

from hardcost.model.finding.observation import seen_in
from hardcost.model.finding.study import StudyFinding
from hardcost.model.observation import Observed, WatchStep
from hardcost.model.role import role_of
from hardcost.model.workload import Workload, workload_of
from hardcost.show.charts.recorders import share_charts, timeline_charts
from tests.show.charts.test_chart import drawing, words
from tests.show.guests import cis, filecopy


def first(finding: StudyFinding) -> StudyFinding:
    """Return `finding` with what recorders saw of one workload alone."""
    seen = tuple(one for one in finding.observed if one.workload == Workload("filecopy"))
    return replace(finding, observed=seen)


def test_configurations_stand_side_by_side_with_their_processes() -> None:
    (chart,) = share_charts(first(filecopy()))
    assert chart.title == (
        "filecopy: share of the busy processor time by process, while it was measured"
    )
    labels = set(words(chart))
    assert {"none", "stig-full", "cp", "clamd", "(others)", "100%"} <= labels
    assert "kworker/0:1" not in labels


def test_a_timeline_names_its_steps() -> None:
    processes, modes, audit = timeline_charts(first(filecopy()))
    assert processes.title == (
        "filecopy: processor, share of the time by process, over millions of ticks"
    )
    labels = words(processes)
    assert labels.count("copy") == labels.count("remove") == 5
    assert "set up" not in labels
    assert {"cp", "(others)", "idle", "audit-syslog"} <= set(labels)
    assert {"user", "system", "idle"} <= set(words(modes))
    assert "backlog" in words(audit)


def test_what_has_no_series_has_no_timeline() -> None:
    seen = Observed(instrument="avc", unit_of_totals="lookups", totals={"lookups": 3})
    finding = replace(cis(), observed=(seen_in(role_of("c"), Workload("w"), 0, 0, seen),))
    assert list(timeline_charts(finding)) == []
    assert list(share_charts(finding)) == []


def test_no_name_out_of_the_guest_acts_in_a_chart() -> None:
    bad = "<script>alert(1)</script>\x1b"
    seen = Observed(
        instrument="cpu",
        unit_of_totals="ticks",
        totals={bad: 1},
        times=(1e6, 2e6),
        series={bad: (1, 2)},
        steps=(WatchStep(name=bad, begin=0, end=1e6, is_measured=True),),
    )
    finding = replace(cis(), observed=(seen_in(role_of(bad), workload_of(bad), 0, 0, seen),))
    for chart in (*share_charts(finding), *timeline_charts(finding)):
        assert "<script" not in drawing(chart)
        assert "\x1b" not in drawing(chart)
        assert any("<script>" in label for label in words(chart))
