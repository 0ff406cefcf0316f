from __future__ import annotations

from dataclasses import replace

from auditrules.kernel.event import Event, FileId
from conformance.battery import Battery, SetResult, WantedRules
from conformance.calls import Call
from conformance.two_kernels import Beside, beside

CALLS = (Call("getppid", 0, "b64", 110), Call("fork", 0, "b64", 57, child=True))
RULES = "-a always,exit -S getppid -k g\n"
RESULT = SetResult((0, 1), {0: "g"}, frozenset(), "", 1, RULES, frozenset())
BATTERY = Battery({"/f": FileId(0, 24, 9)}, (Event("b64", 110), Event("b64", 57)), (RESULT,))


def compared(other: Battery) -> Beside:
    return beside(BATTERY, other, [WantedRules(RULES)], CALLS)


def with_result(**changes: object) -> Battery:
    return replace(BATTERY, sets=(replace(RESULT, **changes),))  # type: ignore[arg-type]


def test_two_kernels_that_record_the_same_do_not_differ() -> None:
    same = compared(BATTERY)
    assert same.differences == ()
    assert (same.counts["cases"], same.counts["recorded"]) == (2, 1)


def test_a_missing_record_another_key_and_one_too_many_are_differences() -> None:
    for recorded, first, second in (
        ({}, "g", None),
        ({0: "h"}, "g", "h"),
        ({0: "g", 1: ""}, None, ""),
    ):
        (found,) = compared(with_result(recorded=recorded)).differences
        assert (found.first, found.second) == (first, second)
        assert "   1 -a always,exit -S getppid -k g" in str(found)


def test_other_rules_refused_loaded_or_listed_are_differences() -> None:
    for change in ({"refused": frozenset({1})}, {"loaded": 0}, {"listing": "No rules\n"}):
        (found,) = compared(with_result(**change)).differences
        assert found.what in change


def test_another_event_is_a_difference_but_for_the_number_of_a_child() -> None:
    first, second = BATTERY.events
    assert compared(replace(BATTERY, events=(first, replace(second, pid=7)))).differences == ()
    (found,) = compared(replace(BATTERY, events=(replace(first, uid=7), second))).differences
    assert found.what == str(CALLS[0])
    (moved,) = compared(replace(BATTERY, files={"/f": FileId(0, 24, 10)})).differences
    assert moved.what == "/f"


def test_a_call_that_was_unsteady_on_either_is_left_out() -> None:
    without = compared(with_result(unsteady=frozenset({0}), recorded={}))
    assert without.differences == ()
    assert (without.counts["cases"], without.counts["unsteady"]) == (1, 1)
    assert (without + without).counts["cases"] == 2
