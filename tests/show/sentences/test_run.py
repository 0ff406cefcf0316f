"""What a run's answer says of configurations that chance may have put in their order."""

from dataclasses import replace

from hardcost.analysis.estimates.estimates import middle_of_draws, middle_ratio
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import role_of
from hardcost.model.workload import Workload
from hardcost.show.sentences.run import run_answer

NONE = (100.0, 101.0, 100.5, 99.0, 99.5)
PERMISSIVE = (107.0, 108.5, 107.1, 106.2, 106.9)
ENFORCING = (106.9, 108.0, 107.4, 106.0, 106.5)
ODD = (106.9, 108.0, 180.0, 106.0, 106.5)
DEARER = (127.0, 128.5, 127.1, 126.2, 126.9)


def cell(name: str, draws: tuple[float, ...]) -> Cell:
    value, base = middle_of_draws(draws), middle_of_draws(NONE)
    ratios = tuple(a / b for a, b in zip(draws, NONE, strict=True))
    ratio = middle_ratio(ratios)
    return Cell(
        configuration=role_of(name),
        workload=Workload("postfix"),
        metric="sent-1",
        unit="insn/op",
        value=value.value,
        low=value.low,
        high=value.high,
        minimum=min(draws),
        trials=len(draws),
        baseline=role_of("none"),
        difference=value.value - base.value,
        ratio=ratio.value,
        ratio_low=ratio.low,
        ratio_high=ratio.high,
        each=draws,
        ratios=ratios,
    )


def finding(asked: str | None = None, **draws: tuple[float, ...]) -> StudyFinding:
    cells = tuple(cell(name, some) for name, some in {"none": NONE, **draws}.items())
    return StudyFinding(
        run="r-1",
        study="s",
        title="S",
        instrument="insn",
        cells=cells,
        asked=None if asked is None else role_of(asked),
    )


def test_the_answer_is_about_what_is_asked() -> None:
    found = run_answer(finding("enforcing", permissive=PERMISSIVE, enforcing=ENFORCING))
    first, second = found.sentences
    assert first == (
        "enforcing, which the study asks about, is 7.0% more expensive than the baseline none "
        "(instrument insn: instructions executed, not time)."
    )
    assert second == "permissive is not distinguishable from it."


def test_no_order_is_made_of_chance() -> None:
    found = run_answer(finding(permissive=PERMISSIVE, enforcing=ENFORCING))
    assert "the most expensive of" not in " ".join(found.sentences)
    assert "enforcing is not distinguishable from it." in found.sentences
    assert [one.cost.partition("; ")[2] for one in found.dearest] == [
        "",
        "not distinguishable from permissive",
    ]


def test_what_is_dearer_than_what_is_asked_is_named() -> None:
    found = run_answer(finding("enforcing", enforcing=ENFORCING, scanner=DEARER))
    asked = "enforcing, which the study asks about, is 7.0% more expensive"
    assert found.sentences[0].startswith(asked)
    assert found.sentences[1] == (
        "scanner costs more and most of all: it is 1.27 times as expensive as the baseline none."
    )


def test_a_multiple_says_of_what_it_is() -> None:
    (first,) = run_answer(finding(scanner=DEARER)).dearest
    assert first.cost == "1.27 times the baseline none"


def test_what_is_asked_may_be_the_dearest() -> None:
    found = run_answer(finding("scanner", enforcing=ENFORCING, scanner=DEARER))
    assert found.sentences[0].startswith(
        "scanner, which the study asks about and which is the most expensive of 2 configurations, "
        "is 1.27 times as expensive as the baseline none"
    )


def test_one_odd_draw_neither_hides_nor_makes_a_cost() -> None:
    found = run_answer(finding("enforcing", permissive=PERMISSIVE, enforcing=ODD))
    assert found.sentences[0].startswith(
        "enforcing, which the study asks about, is 7.0% more expensive"
    )
    assert found.sentences[1] == "permissive is not distinguishable from it."
    free = run_answer(finding("same", same=(100.0, 101.0, 180.0, 98.9, 99.6)))
    assert free.sentences[0] == (
        "same, which the study asks about, is not distinguishable from the baseline none "
        "(instrument insn: instructions executed, not time)."
    )


def test_a_single_trial_that_is_a_draw_is_no_cost_below_its_resolution() -> None:
    single = [
        replace(one, trials=1, ratios=(), ratio_low=one.ratio, ratio_high=one.ratio, resolution=r)
        for one, r in ((cell("none", NONE), 0.1), (cell("enforcing", ENFORCING), 0.1))
    ]
    found = run_answer(
        StudyFinding(run="r-1", study="s", title="S", instrument="insn", cells=tuple(single))
    )
    assert found.sentences == (
        (
            "No configuration costs distinguishably more than its baseline (instrument insn:"
            " instructions executed, not time)."
        ),
    )


def test_a_baseline_may_have_a_space_in_its_name() -> None:
    spaced = {role_of("none"): role_of("audit off")}
    found = finding(enforcing=ENFORCING)
    cells = tuple(
        replace(
            one,
            configuration=spaced.get(one.configuration, one.configuration),
            baseline=spaced[one.baseline],
        )
        for one in found.cells
    )
    (said,) = run_answer(replace(found, cells=cells)).sentences
    assert said.startswith("enforcing is 7.0% more expensive than the baseline 'audit off' ")
