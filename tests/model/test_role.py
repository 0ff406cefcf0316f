"""A role's text is read as the role that it was made of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.model.role import (
    Alone,
    AuditOff,
    AxisLevel,
    Base,
    Baseline,
    Fired,
    Idle,
    Named,
    OfProfile,
    Original,
    PlaceboRole,
    Role,
    Whole,
    With,
    Without,
    placebo_pairs,
    role_of,
)


@pytest.mark.parametrize(
    ("role", "text"),
    [
        (Baseline(), "baseline"),
        (Whole(), "profile"),
        (Base(), "base"),
        (AuditOff(), "audit-off"),
        (Fired(), "fired"),
        (Original(), "original"),
        (Idle(2), "idle-rules:2"),
        (Without((3,)), "without:3"),
        (Without((0, 1, 2, 5)), "without:0-2+5"),
        (Without((3,), Base()), "base-without:3"),
        (Alone(7), "alone:7"),
        (With((1, 3, 4)), "with:1+3-4"),
        (Named("kernel=flat rules=160"), "kernel=flat rules=160"),
        (PlaceboRole(Whole(), 1), "placebo:profile:1"),
        (PlaceboRole(Named("rules=1 x"), 0), "placebo:rules=1 x:0"),
        (Named("Without"), "Without"),
        (Named("placebo"), "placebo"),
        (Named("alone:03"), "alone:03"),
        (Named("with:5-3"), "with:5-3"),
        (Named("with:0-999999999"), "with:0-999999999"),
    ],
)
def test_text_is_made_and_read_in_one_place(role: Role, text: str) -> None:
    assert str(role) == text
    assert role_of(text) == role


@given(st.text())
def test_any_text_is_a_role_of_that_text(text: str) -> None:
    assert str(role_of(text)) == text


def test_a_name_is_the_same_whatever_spans_it() -> None:
    assert Named("rules=1", (AxisLevel("rules", "1"),)) == Named("rules=1")


def test_a_role_of_one_profile_among_several_is_a_name_once_it_was_text() -> None:
    assert role_of(str(OfProfile("stig", Whole()))) == Named("stig: profile")


def test_a_placebo_is_compared_with_what_it_is_added_to_if_that_is_there() -> None:
    on, off = PlaceboRole(Whole(), 1), PlaceboRole(Baseline(), 0)
    assert list(placebo_pairs([Whole(), on, off])) == [(on, Whole())]
