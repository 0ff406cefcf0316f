"""Bills under two QEMUs: what does not move is compared, by whether a control fires."""

from __future__ import annotations

from typing import Any

from bench.accuracy.qemu_versions import BASELINES, FIRES, SILENT, pairs


def bill(baseline: float, *, moves: str = "fork") -> dict[str, Any]:
    """Return what matters here of a bill's JSON."""
    items = [("a rule", "open", 0), ("a rule", "fork", 0), ("another", "open", 45)]
    return {
        "cells": [{"metric": one, "trials": 5 if one == moves else 1} for one in ("open", "fork")],
        "items": [
            {"control": control, "metric": metric, "cost": baseline / 10, "alone": 2.0, "fired": n}
            for control, metric, n in items
        ],
        "totals": [{"metric": one, "baseline": baseline} for one in ("open", "fork")],
    }


def test_costs_are_separated_by_whether_a_control_fires_and_what_moves_is_left_out() -> None:
    found = pairs(bill(5510.0), bill(5740.0))
    assert found == {
        SILENT: [("open, a rule (cost)", 551.0, 574.0), ("open, a rule (alone)", 2.0, 2.0)],
        FIRES: [("open, another (cost)", 551.0, 574.0), ("open, another (alone)", 2.0, 2.0)],
        BASELINES: [("open", 5510.0, 5740.0)],
    }


def test_what_moves_under_either_is_left_out_and_so_is_what_one_bill_lacks() -> None:
    other = bill(5740.0, moves="open")
    assert not any(pairs(bill(5510.0), other).values())
    other = bill(5740.0)
    other["items"] = []
    assert not pairs(bill(5510.0), other)[SILENT]
