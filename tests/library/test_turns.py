"""Numbers that the turns of several processors decide have a note."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hardcost.library.run import notes_on_turns
from tests.show.conftest import cell

ONE = cell("audit", "copy", 200.0, "none", 100.0)


@pytest.mark.parametrize("long", [None, 200.0, 191.0, 209.0])
def test_a_number_on_which_both_lengths_agree_has_none(long: float | None) -> None:
    assert list(notes_on_turns([replace(ONE, long_turns=long)])) == []


@pytest.mark.parametrize(("long", "by"), [(189.9, "-5.0 %"), (300.0, "+50.0 %")])
def test_one_that_long_turns_change_has_one(long: float, by: str) -> None:
    (note,) = notes_on_turns([replace(ONE, long_turns=long), ONE])
    assert note == (
        f"audit, syscalls: how long turns are decides copy ({by} where they are ten times as"
        " long): believe its size, not its digits"
    )
