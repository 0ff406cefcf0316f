from __future__ import annotations

import pytest

from auditrules.model.fault import Fault, RulesError
from auditrules.model.location import Location
from auditrules.model.rule import Rule, rule_keys, split_options, split_words, with_key


@pytest.mark.parametrize(
    ("text", "keyed"),
    [
        ("-w /etc/x -p wa -k old", "-w /etc/x -p wa -k hc"),
        ("-w /etc/x", "-w /etc/x -k hc"),
        ("-a always,exit -S open -k a -ka -F key=b -Fkey=c -F uid=0", None),
        ("-a exit,always -F path=/x -F perm=x", "-a exit,always -F path=/x -F perm=x -k hc"),
        ("-a always,exit -F arch=b64 -F uid=1", "-a always,exit -F arch=b64 -F uid=1 -S all -k hc"),
        ("-A always,exit -F dir=/etc -k a", "-A always,exit -F dir=/etc -S all -k hc"),
        ("-w -k -p wa", "-w -k -p wa -k hc"),
        (r"-w /a\ b -k c\ d", r"-w /a\ b -k hc"),
    ],
)
def test_one_key_takes_the_place_of_all(text: str, keyed: str | None) -> None:
    rule = with_key(Rule(text), "hc")
    assert rule.text == (keyed or "-a always,exit -S open -F uid=0 -k hc")
    assert rule.key == "hc"
    assert rule_keys(rule) == ("hc",)


@pytest.mark.parametrize(
    "text",
    [
        "-a never,exit -S open -k quiet",
        "-a never,task",
        "-a always,task",
        "-a always,exclude -F msgtype=CWD",
        "-a never,filesystem -F fstype=tracefs",
        "-a always,user -F uid=1",
    ],
)
def test_a_rule_whose_records_have_no_key_stays_as_it_is(text: str) -> None:
    assert with_key(Rule(text), "hc") == Rule(text)


def test_words_end_at_spaces_that_no_backslash_keeps() -> None:
    assert split_words(r" -w  /a\ b\\ -k x\ ") == ["-w", r"/a\ b\\", "-k", r"x\ "]


def test_options_hold_what_is_meant() -> None:
    assert split_options(["-w", r"/a\ b\\", "lost"]) == ([("-w", "/a b\\")], ["lost"])


def test_keys_come_in_order() -> None:
    assert rule_keys(Rule("-a always,exit -F key=a -S open -k b")) == ("a", "b")


def test_an_error_has_each_fault_as_a_problem_with_its_location() -> None:
    error = RulesError((Fault("bad", Location("f", 3)), Fault("gone", Location("g"))))
    assert str(error) == "bad; gone"
    assert [str(one.place) for one in error.problems] == ["f:3", "g"]
