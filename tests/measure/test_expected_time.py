"""The time that work will take, from made-up histories of what it took before."""

from __future__ import annotations

import pytest

from hardcost.measure import expected_time
from hardcost.measure.expected_time import History, Span, Stage, Work, WorkKind
from hardcost.model.workload import workload_of


def kind(workload: str, instrument: str) -> WorkKind:
    return workload_of(workload), instrument


QUICK, SLOW = kind("syscalls calls=null", "insn"), kind("unixbench", "insn")
KNOWN = History(
    trials={QUICK: [1.0] * 20, SLOW: [60.0] * 20},
    boots={"small": [5.0] * 20, "debian": [25.0] * 20},
    builds=[(500.0, 1561), (38.0, 15)],
)


def by_name(work: Work, history: History = KNOWN, jobs: int = 1) -> dict[str, Stage]:
    return {stage.name: stage for stage in expected_time.stages(work, history, jobs)}


def test_each_stage_takes_what_its_like_took_here() -> None:
    work = Work(boots=["small", "debian"], trials=[QUICK, QUICK, SLOW])
    found = by_name(work)
    assert list(found) == ["boots", "trials"]
    assert found["boots"].span == Span(30, 30)
    assert found["trials"].span == Span(62, 62)
    assert expected_time.total(tuple(found.values())) == Span(92, 92)


def test_a_workload_takes_its_own_time_and_not_the_mean_of_all() -> None:
    assert by_name(Work(trials=[SLOW] * 10))["trials"].span == Span(600, 600)
    assert by_name(Work(trials=[QUICK] * 10))["trials"].span == Span(10, 10)


def test_the_first_build_compiles_everything_unless_that_is_done() -> None:
    first = by_name(Work(builds=1))["kernel builds"]
    later = by_name(Work(builds=1, begun=True))["kernel builds"]
    both = by_name(Work(builds=2))["kernel builds"]
    assert first.span == Span(500, 500)
    assert later.span == Span(38, 500)
    assert both.span == Span(538, 1000)


def test_set_up_comes_on_top_of_trials() -> None:
    work = Work(builds=2, boots=["small"], trials=[QUICK] * 4)
    parts = expected_time.stages(work, KNOWN, 2)
    assert [part.name for part in parts] == ["kernel builds", "boots", "trials"]
    assert expected_time.total(parts) == Span(538 + 5 + 2, 1000 + 5 + 2)


def test_what_was_never_run_is_unknown_and_takes_no_number_from_others() -> None:
    found = by_name(Work(trials=[kind("fio", "insn"), QUICK]))["trials"]
    assert found.span.high is None
    assert found.span.middle is None
    assert "no trial of fio was measured here" in found.basis
    assert (
        expected_time.span_in_words(by_name(Work(trials=[kind("fio", "insn")]))["trials"].span)
        == "unknown yet"
    )
    assert by_name(Work(trials=[kind("unixbench", "time")]))["trials"].span.high is None


def test_other_parameters_of_a_workload_give_a_range() -> None:
    history = History(trials={kind("dd bs=1", "insn"): [2.0], kind("dd bs=2", "insn"): [8.0]})
    found = by_name(Work(trials=[kind("dd bs=3", "insn")]), history)["trials"]
    assert found.span == Span(2, 8)
    assert "other parameters" in found.basis


def test_without_a_history_set_up_is_a_guess_and_called_one() -> None:
    found = by_name(Work(builds=1, boots=["small"]), History())
    assert found["kernel builds"].basis == found["boots"].basis == "a guess"
    assert found["kernel builds"].span == expected_time.BUILD_GUESS


def test_guests_run_side_by_side_and_none_is_faster_for_it() -> None:
    assert by_name(Work(trials=[SLOW] * 4), jobs=2)["trials"].span == Span(120, 120)
    assert by_name(Work(trials=[SLOW]), jobs=2)["trials"].span == Span(60, 60)


def test_outliers_do_not_widen_what_many_trials_took() -> None:
    history = History(trials={QUICK: [*[1.0] * 30, 90.0]})
    assert by_name(Work(trials=[QUICK]), history)["trials"].span == Span(1, 1)


def test_a_search_is_bounded_by_the_configurations_that_it_may_measure() -> None:
    first = expected_time.stages(Work(trials=[QUICK] * 2), KNOWN, 1)
    most = expected_time.stages(Work(boots=["small"] * 71, trials=[QUICK] * 72), KNOWN, 1)
    boots, trials = expected_time.stages_between(first, most)
    assert (expected_time.pieces_in_words(boots), expected_time.pieces_in_words(trials)) == (
        "0 to 71",
        "2 to 72",
    )
    assert expected_time.total([boots, trials]) == Span(2, 355 + 72)


@pytest.mark.parametrize(
    ("span", "said"),
    [
        (Span(0, 0), "about 0 s"),
        (Span(0.2, 0.4), "about 1 s"),
        (Span(40, 44), "about 42 s"),
        (Span(2, 72), "2 to 72 s"),
        (Span(40, 240), "40 s to 4 min"),
        (Span(300, 1500), "5 to 25 min"),
        (Span(900, 10_000), "15 min to 2.8 h"),
        (Span(0, None), "unknown yet"),
        (Span(600, None), "at least 10 min"),
    ],
)
def test_a_span_reads_plainly(span: Span, said: str) -> None:
    assert expected_time.span_in_words(span) == said


def test_the_time_left_goes_from_what_was_expected_to_the_pace_of_the_work() -> None:
    assert expected_time.seconds_left(None, 5, 0, 10) is None
    assert expected_time.seconds_left(100, 10, 0, 10) == 90
    assert expected_time.seconds_left(100, 60, 3, 10) == pytest.approx(140)
    assert 90 < (expected_time.seconds_left(100, 20, 1, 10) or 0) < 180
    assert expected_time.seconds_left(100, 120, 0, 10) is None
    assert expected_time.seconds_left(100, 120, 2, 10) == 480
    assert expected_time.seconds_left(100, 120, 10, 10) == 0
    assert expected_time.left_in_words(None) == "time left unknown yet"
    assert expected_time.left_in_words(150) == "about 2 min left"
