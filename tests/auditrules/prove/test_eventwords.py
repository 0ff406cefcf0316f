"""What the prover prints of an event, `explain` reads back to the same decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hardcost.auditrules.explain.described import described
from hardcost.auditrules.explain.explain import explain
from hardcost.auditrules.prove.eventwords import difference_words, remark
from hardcost.auditrules.prove.prove import prove
from hardcost.auditrules.rule import Rule
from hardcost.auditrules.translate import AS_WRITTEN, translate

if TYPE_CHECKING:
    from hardcost.auditrules.kernelrule import KernelRule


def rules(lines: tuple[str, ...]) -> list[KernelRule]:
    return [translate(Rule(line), AS_WRITTEN) for line in lines]


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
    difference = prove(rules(one), rules(other)).difference
    assert difference is not None
    words = difference_words(difference)
    again = described(words)
    for lines, outcome in ((one, difference.outcome_a), (other, difference.outcome_b)):
        said = explain(rules(lines), again).outcome
        assert (said.recorded, said.key) == (outcome.recorded, outcome.key), words


def test_names_that_nobody_resolved_are_told_apart_from_the_event() -> None:
    difference = prove(rules(("-a always,exit -S open -F auid=bob",)), []).difference
    assert difference is not None
    number = difference.resolved["user bob"]
    assert remark(difference) == (
        f"where user bob is {number}; pass this to explain with --passwd and --group"
    )
    assert described(difference_words(difference)).event.auid == number
    known = prove(rules(("-a always,exit -S open -F auid=5",)), []).difference
    assert known is not None
    assert remark(known) is None
