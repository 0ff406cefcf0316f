"""What the prover prints of an event, `explain` reads back to the same decision."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from audit_rules.tests.prove.rule_sets import STIG, edited, loadable, pairs_of_sets, proved, rules
from auditrules.explain.explain import explain_event
from auditrules.explain.read_event import parse_event
from auditrules.model.kernel_rule import FilterList
from auditrules.prove.event_text import difference_words, remark
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation


@pytest.mark.parametrize(
    "one",
    [
        ("-a always,exit -S open -F inode=5",),
        ("-a always,exit -S open -F inode=5 -F devmajor=3 -F devminor=4",),
        ("-a always,exit -S openat -F filetype=socket -F devmajor=3",),
        ("-a always,exit -S openat -F devmajor=3 -F devmajor=5 -F devminor=0 -F devminor=7",),
        ("-a always,exit -S openat -F filetype!=file -F filetype!=dir",),
        ("-a always,exit -S rename -F obj_uid=0 -F obj_uid=1",),
        ("-a always,exit -S rename -F path=/etc/x -F obj_uid=0 -F obj_uid=1",),
        ("-a always,exit -S rename -F dir=/etc -F filetype=dir -F filetype=fifo",),
        (
            "-a never,exit -S rename -F dir=/",
            "-a always,exit -S rename -F filetype=dir -F filetype=fifo",
        ),
        (
            "-a never,exit -S rename -F dir=/etc -F filetype=dir",
            "-a always,exit -S rename -F dir=/srv -F filetype=fifo",
        ),
        ("-a never,filesystem -F fstype=0x64626720", "-w /etc/x -p wa -k x"),
        ("-a never,filesystem -F fstype!=0x64626720", "-w /etc/x -p wa -k x"),
        ("-a always,exit -S kill -F pid=4294967295",),
    ],
)
@pytest.mark.parametrize("other", [(), ("-w /etc/x -p wa -k x",), ("-w /tmp/x -p wa -k other",)])
def test_an_example_of_files_can_be_given_to_explain(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    difference = prove_equal(rules(*one), rules(*other)).difference
    assert difference is not None
    words = difference_words(difference)
    again = parse_event(words)
    for lines, outcome in ((one, difference.outcome_a), (other, difference.outcome_b)):
        said = explain_event(rules(*lines), again).outcome
        assert (said.recorded, said.key) == (outcome.recorded, outcome.key), words


def test_names_that_nobody_resolved_are_distinguished_from_the_event() -> None:
    difference = prove_equal(rules("-a always,exit -S open -F auid=bob"), []).difference
    assert difference is not None
    number = difference.resolved["user bob"]
    assert remark(difference) == (
        f"where user bob is {number}; pass this to explain with --passwd and --group"
    )
    assert parse_event(difference_words(difference)).event.auid == number
    known = prove_equal(rules("-a always,exit -S open -F auid=5"), []).difference
    assert known is not None
    assert remark(known) is None


@pytest.mark.parametrize(
    "other",
    [
        edited(13, "unlinkat,", ""),
        edited(10, "auid>=1000", "auid>=500"),
        edited(14, "-p wa", "-p w"),
        (*STIG, "-a always,exit -S execve -F exe=/opt/a\\ b -F egid=5 -F obj_uid=7 -k x"),
        (*STIG, "-a always,exit -S connect -F saddr_fam=2 -F sessionid!=1 -F pers=8 -F gid=9"),
        (*STIG, "-a always,exit -S openat2 -F filetype=dir -F perm=w -F subj_user=a\\ b"),
    ],
)
def test_an_example_can_be_given_to_explain(other: tuple[str, ...]) -> None:
    difference = proved(STIG, other).difference
    assert difference is not None
    again = parse_event(difference_words(difference))
    for lines, outcome in ((STIG, difference.outcome_a), (other, difference.outcome_b)):
        said = explain_event(rules(*lines), again)
        assert (said.outcome.recorded, said.outcome.key) == (outcome.recorded, outcome.key)


@settings(deadline=None)
@given(pairs_of_sets())
def test_any_example_can_be_given_to_explain(pair: tuple[list[str], list[str]]) -> None:
    a, b = (loadable(text) for text in pair)
    difference = prove_equal(a, b).difference
    if difference is None or difference.list is not FilterList.EXIT or difference.resolved:
        return
    words = difference_words(difference)
    again = parse_event(words)
    for loaded, outcome in ((a, difference.outcome_a), (b, difference.outcome_b)):
        said = explain_event(loaded, again).outcome
        assert (said.recorded, said.key) == (outcome.recorded, outcome.key), words


def test_an_example_has_one_label_for_a_file_that_is_visited_twice() -> None:
    never = "-A never,exit -S openat -F path=/w/f"
    always = "-A always,exit -S openat -F obj_type=t -F path=/w/f"
    relation = Relation(ignore_raised=True)
    assert prove_equal(rules(always), rules(never, always), relation).equal
