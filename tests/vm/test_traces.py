"""Traces of real guests: who runs when, exactly, and the same again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

RULES = "-a always,exit -F arch=b64 -S chmod -k modes\n"


def _names(trace: dict[str, Any]) -> list[str]:
    return [trace["processes"][piece["process"]] for piece in trace["pieces"]]


@pytest.mark.slow
def test_a_recorded_chmod_goes_from_the_program_to_kauditd_to_the_daemon(hardcost: Command) -> None:
    rules = hardcost.write("modes.rules", RULES)
    words = ("trace", rules, "--call", "chmod", "--format", "json")
    found = hardcost(*words).data()
    (trace,) = found["traces"]
    names = _names(trace)
    assert names[:3] == ["hardcost-caller", "kauditd", "init"]
    pieces = trace["pieces"]
    assert sum(piece["end"] - piece["begin"] for piece in pieces) == trace["length"]
    assert all(before["end"] == after["begin"] for before, after in pairwise(pieces))
    around = trace["before"] + trace["after"] + trace["idle"]
    assert trace["length"] + around == trace["ticks"]
    # Later kernels let the daemon interrupt kauditd, which then goes on without being woken.
    by = {piece["woken_by"] for piece, name in zip(pieces, names, strict=True) if name == "kauditd"}
    assert {trace["processes"][one] for one in by if one is not None} == {"hardcost-caller"}
    taken = [deed["what"] for piece in pieces for deed in piece["deeds"]]
    assert taken == ["takes a record"] * 5  # SYSCALL, CWD, PATH, PROCTITLE, EOE
    assert hardcost(*words, "--fresh").data()["traces"] == found["traces"]


def test_a_call_that_is_not_recorded_ends_with_its_return(hardcost: Command) -> None:
    rules = hardcost.write("modes.rules", RULES)
    found = hardcost("trace", rules, "--call", "stat", "--format", "json").data()
    (trace,) = found["traces"]
    assert set(_names(trace)) == {"hardcost-caller"}
    assert trace["arrived"] is None
    assert trace["returned"] == trace["length"]
