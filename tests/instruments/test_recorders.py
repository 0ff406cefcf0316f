"""Recorders: asked for together, each reporting what it saw."""

from __future__ import annotations

import pytest

from hardcost.errors import TrialError
from hardcost.instruments import recorders
from hardcost.instruments.names import RECORDERS
from tests.protocol.json_messages import as_sent, typed


def test_every_instrument_that_may_be_named_has_a_title() -> None:
    assert tuple(recorders.TITLES) == RECORDERS
    assert all(recorders.TITLES.values())


def test_without_any_nothing_is_asked() -> None:
    assert as_sent(recorders.requests_before(())) == ()
    assert as_sent(recorders.requests_after(())) == ()
    assert recorders.observations_of((), typed(())) == ()


def test_all_are_asked_for_at_once() -> None:
    (before,) = as_sent(recorders.requests_before(("avc", "cpu")))
    (after,) = as_sent(recorders.requests_after(("avc", "cpu")))
    assert (before["do"], before["what"]) == ("watch", ["avc", "cpu"])
    assert after == {"do": "unwatch"}


@pytest.mark.parametrize("name", RECORDERS)
def test_a_guest_that_tells_nothing_fails_the_trial(name: str) -> None:
    with pytest.raises(TrialError):
        recorders.observations_of((name,), typed(({"event": "hello"},)))
