from __future__ import annotations

from auditrules.kernel.event import Event, FileId, VisitedName
from auditrules.tables import lookup
from conformance.agreement import Agreement, Disagreement, Refusal, compare
from conformance.battery import Battery, SetResult, WantedRules
from conformance.calls import Call

OPEN = lookup.calls("b64")["open"]
F1 = FileId(0, 24, 9)
CALLS = (Call("open", 0, "b64", OPEN), Call("getppid", 0, "b64", 110))
EVENTS = (Event("b64", OPEN, names=(VisitedName("/field/f1", F1),)), Event("b64", 110))
FILES = {"/field/f1": F1, "/field": FileId(0, 24, 1)}
RULES = "-w /field/f1 -p r -k w\n-a never,exit -S getppid\n-a always,exit -S getppid -k g\n"


def compared(rules: str, recorded: dict[int, str], **changes: object) -> Agreement:
    told: dict[str, object] = {
        "made": (0, 1),
        "recorded": recorded,
        "refused": frozenset(),
        "complaints": "",
        "loaded": len(rules.splitlines()),
        "listing": None,
        "unsteady": frozenset(),
    }
    result = SetResult(**{**told, **changes})  # type: ignore[arg-type]
    return compare(Battery(FILES, EVENTS, (result,)), [WantedRules(rules)], CALLS)


def test_where_both_say_the_same_there_is_no_disagreement() -> None:
    comparison = compared(RULES, {0: "w"})
    assert comparison.disagreements == ()
    assert comparison.counts["cases"] == 2
    assert comparison.counts["recorded"] == 1
    assert comparison.counts["decided in a bucket"] == 1
    assert comparison.counts["decided by never"] == 1


def test_a_missing_record_another_key_and_one_too_many_are_disagreements() -> None:
    for recorded, index, expected, got in (
        ({}, 0, "w", None),
        ({0: "other"}, 0, "w", "other"),
        ({0: "w", 1: "g"}, 1, None, "g"),
    ):
        (found,) = compared(RULES, recorded).disagreements
        assert isinstance(found, Disagreement)
        assert (found.call, found.expected, found.got) == (CALLS[index], expected, got)
        assert "-a never,exit -S getppid" in str(found)
    assert "MATCHED after 0 conditions: -a never,exit -S getppid" in str(found)


def test_lines_that_only_one_refuses_are_a_disagreement() -> None:
    rules = "-a always,exit -S nosuch\n-w /nowhere/x\n-w /field/f1\n-w /field/f1\n"
    fine = compared(rules, {0: ""}, refused=frozenset({1, 2, 4}), loaded=1)
    assert fine.disagreements == ()
    (found,) = compared(rules, {0: ""}, refused=frozenset({1, 3}), complaints="why").disagreements
    assert isinstance(found, Refusal)
    assert (found.ours, found.theirs) == (("-w /nowhere/x", "-w /field/f1"), ("-w /field/f1",))
    assert "why" in str(found)


def test_rules_that_were_deleted_decide_nothing() -> None:
    rules = f"{RULES}-W /field/f1 -p r -k w\n-d never,exit -S getppid\n-d never,exit -S getppid\n"
    gone = compared(rules, {1: "g"}, refused=frozenset({6}), loaded=1)
    assert gone.disagreements == ()
    assert (gone.counts["rules"], gone.counts["rules deleted"]) == (1, 2)
    emptied = compared(f"{RULES}-D\n", {}, loaded=0)
    assert emptied.disagreements == ()


def test_of_rules_that_are_the_same_the_one_in_front_is_deleted() -> None:
    twice = "-a always,exit -S getppid -k k\n-A never,exit -S getppid\n"
    twice += "-A always,exit -S getppid -k k\n-d always,exit -S getppid -k k\n"
    assert compared(twice, {}, loaded=2).disagreements == ()
    assert compared(twice, {1: "k"}, loaded=2).disagreements != ()


def test_of_an_unsteady_call_nothing_is_said() -> None:
    comparison = compared(RULES, {}, unsteady=frozenset({0}))
    assert comparison.disagreements == ()
    assert (comparison.counts["cases"], comparison.counts["unsteady"]) == (1, 1)


def test_comparisons_add_up() -> None:
    both = compared(RULES, {0: "w"}) + compared(RULES, {})
    assert both.counts["cases"] == 4
    assert len(both.disagreements) == 1
