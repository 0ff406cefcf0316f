"""`hardcost advise` on a machine that computes its answers: what is measured, and what is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

import pytest

from hardcost.cli.output import finding
from hardcost.profiles.decision import read_decision
from tests.cli.verbs.conversation import said

RULES = """\
-w /etc/passwd -p wa -k identity
-a always,exit -F arch=b64 -S open -F success=0 -k denied
-a always,exit -F arch=b64 -S chmod,fchmod -k modes
"""
ON = "--machine fake --jobs 1 --workload 'syscalls calls=null+chmod' --progress none"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "x.sqlite"))
    (tmp_path / "my.rules").write_text(RULES)


def advised(words: str, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], str]:
    """Return the choice in the JSON that is printed, and the exit status."""
    text = said(f"advise {words} {ON} --format json", capsys)
    document = text.partition("--- stdout\n")[2].partition("--- ")[0]
    choice: dict[str, Any] = json.loads(document)["choice"]
    return choice, text.rstrip()[-1]


def test_what_is_proposed_was_measured_within_the_budget(
    capsys: pytest.CaptureFixture[str],
) -> None:
    choice, status = advised("my.rules --no-equivalents --budget 'chmod<=100%'", capsys)
    assert status == "0"
    (after,) = choice["after"]
    assert after["share"] <= 1
    assert [one["control"] for one in choice["given_up"]] == [RULES.splitlines()[2]]
    assert all(level["measured"] for level in choice["frontier"])


def test_a_control_that_has_to_be_kept_is_kept_or_the_answer_is_no(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "weights.toml").write_text('"*modes" = inf\n')
    words = "my.rules --no-equivalents --weights weights.toml"
    choice, status = advised(f"{words} --budget 'chmod<=158%'", capsys)
    assert (status, choice["kept"]) == ("0", 2)
    choice, status = advised(f"{words} --budget 'chmod<=10%'", capsys)
    assert (status, choice["found"]) == ("1", False)


def test_the_decision_is_read_back_with_what_is_given_up(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    advised("my.rules --no-equivalents --budget 'chmod<=100%' -o d.toml", capsys)
    decision = read_decision(tmp_path / "d.toml")
    (given_up,) = decision.given_up
    assert given_up.control == RULES.splitlines()[2]
    assert (given_up.place, given_up.stands_for) == ("my.rules:3", ())
    assert (given_up.metric, given_up.unit, given_up.cost) == ("chmod", "insn/op", 2020)
    assert [one.name for one in decision.kept.controls][1:] == RULES.splitlines()[:2]


def test_the_decision_is_there_before_anything_is_printed_or_drawn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(finding, "show_finding", fails)
    words = f"advise my.rules {ON} --no-equivalents --budget 'chmod<=100%' -o d.toml"
    assert said(words, capsys).endswith("--- status 3\n")
    assert read_decision(tmp_path / "d.toml").given_up


def test_where_nothing_is_kept_there_is_no_decision(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    _, status = advised(
        "--boot init_on_alloc=1 --no-equivalents --budget 1% -o nothing.toml", capsys
    )
    assert status == "1"
    assert not (tmp_path / "nothing.toml").exists()


def test_controls_that_interact_are_measured_together(capsys: pytest.CaptureFixture[str]) -> None:
    """Each costs 300 or nothing alone, and 70 more beside the other."""
    words = "--boot init_on_alloc=1 --boot init_on_free=1 --boot slab_nomerge"
    choice, _ = advised(f"{words} --budget 'null<=170%'", capsys)
    assert choice["kept"] == 2


def test_where_no_rule_fits_the_least_budget_keeps_one_and_a_round_one_more(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "my.rules --sysctl kernel.kptr_restrict=2 --no-equivalents"
    choice, status = advised(f"{words} --budget 'null<=1%'", capsys)
    assert (status, choice["kept"]) == ("0", 1)
    none_of = choice["unkeepable"]
    assert (none_of["kind"], len(none_of["controls"])) == ("audit rule", 3)
    least, round_one = none_of["offers"]
    assert (least["budgets"], round_one["budgets"]) == ({"null": 0.067}, {"null": 0.1})
    assert len(least["kept"]) == 2
    assert least["measured"]
    choice, status = advised(f"{words} --budget 'null<=6.7%'", capsys)
    assert (status, choice["kept"]) == ("0", 2)
    assert "unkeepable" not in choice
    assert said(f"advise {words} --budget 'null<=1%' {ON}", capsys).splitlines()[2] == (
        "No audit rule can be kept within 1.0% on null: the least budget that keeps one is 6.7% on"
        " null."
    )


def test_a_decision_says_why_rules_that_save_nothing_are_off(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = "my.rules --sysctl kernel.kptr_restrict=2 --no-equivalents -o d.toml"
    advised(f"{words} --budget 'null<=1%'", capsys)
    reasons = {one.reason for one in read_decision(tmp_path / "d.toml").given_up}
    assert reasons == {
        (
            "No audit rule can be kept within 1.0% on null: the least budget that keeps one is 6.7%"
            " on null."
        )
    }


def test_a_budget_of_a_bill_that_keeps_no_rule_names_the_least_that_does(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = "my.rules --sysctl kernel.kptr_restrict=2"
    text = said(f"bill {words} --budget 'null<=1%' {ON}", capsys)
    assert "No audit rule can be kept within 1.0% on null" in text
    assert "the least budget that keeps one is 6.7% on null" in " ".join(text.split())
    assert "leave out " not in text
    choice = said(f"bill {words} --budget 'null<=7%' {ON}", capsys)
    assert "leave out 2 of 4 controls" in choice


def test_the_bill_beneath_is_weighed_by_the_user_s_histogram(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "counts.json").write_text('{"getppid": 1, "chmod": 3}')
    said(f"advise my.rules {ON} --histogram counts.json --budget 'mix<=100%'", capsys)
    (page,) = (tmp_path / "reports").glob("advise-*.html")
    assert "over 2 measured calls, weighted by your histogram" in page.read_text()
