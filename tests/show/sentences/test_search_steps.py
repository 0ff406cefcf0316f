from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

from rich.console import Console, ConsoleRenderable

from hardcost.model.finding.bill import Bill, Story
from hardcost.model.finding.head import Score
from hardcost.model.finding.study import StudyFinding
from hardcost.show.json import to_json
from hardcost.show.page.page import to_html
from hardcost.show.sentences.search_steps import search_lines
from hardcost.show.tables.bill import bill_table
from hardcost.show.tables.run import run_table

SEARCH = Story(
    statement="64 controls are searched.",
    steps=("1. baseline = 1: the baseline.", "2. profile = 2: <b>the</b> \x1b[2Jprofile."),
    conclusions=("SLUB_DEBUG_ON=y makes +10 %: confirmed.",),
    configurations=2,
    resolution=0.01,
    adds_up=True,
)


def printed(what: ConsoleRenderable) -> str:
    console = Console(width=120, file=StringIO(), legacy_windows=False)
    with console.capture() as captured:
        console.print(what)
    return captured.get()


def test_a_search_is_reported_from_what_was_said_before_to_what_it_comes_to() -> None:
    assert search_lines(SEARCH) == [
        "How the culprits were found",
        "64 controls are searched.",
        "  1. baseline = 1: the baseline.",
        "  2. profile = 2: <b>the</b> \\x1b[2Jprofile.",
        "Conclusion: 2 configurations measured; resolution 1.0% of the baseline.",
        "  SLUB_DEBUG_ON=y makes +10 %: confirmed.",
    ]


def test_every_report_of_a_bill_tells_it_and_nothing_in_it_can_act(bill: Bill) -> None:
    finding = replace(bill, search=SEARCH)
    text = printed(bill_table(finding))
    assert "How the culprits were found" in text
    assert "\x1b[2J" not in text
    page = to_html(finding)
    assert "How the culprits were found" in page
    assert "<b>the</b>" not in page
    document = json.loads(to_json(finding))
    assert document["search"]["steps"] == list(SEARCH.steps)
    assert document["search"]["adds_up"] is True


def test_a_bill_without_a_search_says_nothing_of_one(bill: Bill) -> None:
    assert "culprits" not in printed(bill_table(bill))
    assert "search" not in json.loads(to_json(bill))


def test_a_kernels_score_stands_beside_its_cost(run: StudyFinding) -> None:
    first = run.cells[0].configuration
    finding = replace(run, scores={first: Score(61, 87)})
    text = printed(run_table(finding))
    assert "61 of 87" in text
    assert "hardcost kernel check" in text
    assert json.loads(to_json(finding))["scores"] == {str(first): {"met": 61, "of": 87}}
    assert "61 of 87" not in printed(run_table(run))


def test_a_score_that_all_kernels_share_is_left_out_of_the_table(run: StudyFinding) -> None:
    scores = {name: Score(20, 87) for name in run.levels}
    finding = replace(run, scores=scores)
    text = printed(run_table(finding))
    assert "20 of 87" not in text
    assert "hardcost kernel check" not in text
    assert len(json.loads(to_json(finding))["scores"]) == len(run.levels)
