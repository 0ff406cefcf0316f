from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from auditrules.words import count, join_in_prose, visible


@settings(deadline=None)
@given(st.text())
def test_nothing_invisible_survives(name: str) -> None:
    shown = visible(name)
    assert all(char == " " or unicodedata.category(char)[0] not in "CZ" for char in shown)


def test_control_characters_are_spelled_out() -> None:
    assert visible("a\x1b[31m\nb\u202e\x9b\ud800") == r"a\x1b[31m\nb\u202e\x9b\ud800"
    assert visible(b"\xc3\xa9\xff".decode(errors="surrogateescape")) == "é" + r"\xff"


def test_what_can_be_seen_stays_as_it_is() -> None:
    assert visible("-F key=Prüfung [bold] <b>") == "-F key=Prüfung [bold] <b>"


def test_amounts_and_names_are_prose() -> None:
    assert count(1, "control") == "1 control"
    assert count(1200, "control") == "1,200 controls"
    assert join_in_prose(["a", "b", "c"]) == "a, b and c"
    assert join_in_prose(["a"]) == "a"
