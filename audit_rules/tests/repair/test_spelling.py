from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditrules.repair.spelling import UncertainError, names_changed, near, respell
from auditrules.tables import lookup


@pytest.mark.parametrize(
    ("raw", "mended"),
    [
        ("-a always,exit -F arch=b33 -S execve", "-a always,exit -F arch=b32 -S execve"),
        ("-a always,exit -F arch=b46 -S open", "-a always,exit -F arch=b64 -S open"),
        ("-a always,exit  -Farch=x86-64 -S open", "-a always,exit  -Farch=x86_64 -S open"),
        ("-a always,exit -S fchmdo,chmod", "-a always,exit -S fchmod,chmod"),
        (
            "-a always,exit -F arch=b6 -S opne -k a\\ b",
            "-a always,exit -F arch=b64 -S open -k a\\ b",
        ),
        ("-a always,exit -F arch=b32 -S umonut", "-a always,exit -F arch=b32 -S umount"),
    ],
)
def test_the_one_near_name_takes_the_place_of_an_unknown_one(raw: str, mended: str) -> None:
    assert respell(raw) == mended


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ("-a always,exit -F arch=b3 -S dup4", "as near to 'dup4': dup, dup2, dup3"),
        ("-a always,exit -S nosuchcall", "no system call is one slip away"),
        ("-a always,exit -F arch=mips -S open", "no architecture is one slip away"),
        ("-a always,exit -F arch=b64 -S umount", "b32 has it and b64 has not"),
        ("-a always,exit -F arch=b64 -S fini_module", "delete_module unloads a module"),
    ],
)
def test_what_was_meant_is_not_certain_otherwise(raw: str, why: str) -> None:
    with pytest.raises(UncertainError, match=why):
        respell(raw)


def test_what_became_of_each_name_is_said() -> None:
    before = "-a always,exit -F arch=b33 -S open,fchmdo"
    assert names_changed(before, respell(before)) == [("b33", "b32"), ("fchmdo", "fchmod")]


def test_a_line_whose_names_are_known_stays_as_it_is() -> None:
    raw = "-a always,exit  -F arch=b64 -S open,all -S 2 -k x"
    assert respell(raw) == raw
    assert respell("no options") == "no options"


SLIPS = ("drop", "double", "swap", "other")


@settings(deadline=None)
@given(
    name=st.sampled_from(sorted(lookup.calls("b64"))),
    at=st.integers(0, 30),
    how=st.sampled_from(SLIPS),
)
def test_a_name_with_one_slip_is_near_the_name(name: str, at: int, how: str) -> None:
    at %= len(name)
    head, letter, tail = name[:at], name[at], name[at + 1 :]
    slipped = {
        "drop": head + tail,
        "double": head + letter * 2 + tail,
        "swap": head + tail[:1] + letter + tail[1:],
        "other": head + "~" + tail,
    }[how]
    if slipped != name:
        assert near(slipped, [name]) == [name]
    assert near(name, [name]) == []
    assert near(f"{name}~~", [name]) == []
