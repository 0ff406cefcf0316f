"""A request refuses a value that is not taken its field's type, before anything is read."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest

import hardcost


@pytest.mark.parametrize(
    ("request_type", "own", "problem", "hint"),
    [
        (hardcost.BillRequest, {"method": "foo"}, "`method`: there is no 'foo'", "auto, verify"),
        (hardcost.BillRequest, {"budget": "5%"}, "`budget`: '5%' is not taken", "Budget | None"),
        (hardcost.BillRequest, {"resolution": "1%"}, "`resolution`: '1%' is not", "number"),
        (hardcost.BillRequest, {"profiles": ["a"]}, r"`profiles`: \['a'\] is not", "tuple"),
        (hardcost.Measuring, {"seeds": 3}, "`seeds`: 3 is not", "tuple"),
        (hardcost.Measuring, {"workloads": "syscalls"}, "`workloads`: 'sys", "Workload"),
        (hardcost.Measuring, {"record": "cpu"}, "`record`: 'cpu' is not", "tuple"),
        (hardcost.HotspotsRequest, {"metrics": "open"}, "`metrics`: 'open' is not", "tuple"),
        (hardcost.AdviseRequest, {"most": 2.5}, "`most`: 2.5 is not", "valid integer"),
        (hardcost.AdviseRequest, {"most": 0}, "`most`: 0 is not", "greater than or equal to 1"),
        (hardcost.BillRequest, {"resolution": -1.0}, "`resolution`: -1.0", "greater than 0"),
        (
            hardcost.MachineOptions,
            {"processors": 0},
            "`processors`: 0 is",
            "greater than or equal to 1",
        ),
        (hardcost.BillRequest, {"histogram": "h.txt"}, "`histogram`: 'h.txt'", "Histogram"),
        (hardcost.Settings, {"boots": "quiet"}, "`boots`: 'quiet' is not", "tuple"),
        (hardcost.Settings, {"lsm": "selinux"}, "`lsm`: there is no 'selinux'", "enforcing"),
        (hardcost.MachineOptions, {"kernel": "/x"}, "`kernel`: '/x' is not", "Path"),
        (hardcost.Budget, {"others": "5%"}, "`others`: '5%' is not", "valid number"),
    ],
)
def test_a_value_of_another_type_is_refused_with_what_is_taken(
    request_type: type, own: dict[str, Any], problem: str, hint: str
) -> None:
    with pytest.raises(hardcost.InputError, match=problem) as raised:
        request_type(**own)
    assert hint in (raised.value.problems[0].hint or "")


def test_all_wrong_fields_are_named_at_once() -> None:
    wrong: dict[str, Any] = {"method": "x", "most": "y"}
    with pytest.raises(hardcost.InputError) as raised:
        hardcost.BillRequest("a", **wrong)
    assert len(raised.value.problems) == 2


def test_paths_do_as_well_as_texts(tmp_path: Path) -> None:
    rules = tmp_path / "a.rules"
    rules.write_text("-a always,exit -F arch=b64 -S open -k a\n")
    how = hardcost.Measuring(
        machine="fake", store=tmp_path / "s", workloads=hardcost.workloads_of("syscalls")
    )
    found = hardcost.bill(hardcost.BillRequest(rules, how=how))
    assert isinstance(found, hardcost.Bill)
    gate = hardcost.gate(hardcost.GateRequest(rules, str(rules), how=how))
    assert not gate.failed


def test_a_metric_that_there_is_not_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    heard: list[object] = []

    class Events(hardcost.Monitor):
        def hear(self, event: object) -> None:
            heard.append(event)

    how = hardcost.Measuring(machine="fake", store=tmp_path / "s")
    events = Events()
    limits = hardcost.limits(["opne<=5%"])
    gate = hardcost.GateRequest("audit-samples", "stig-reduced", limits=limits, how=how)
    with pytest.raises(hardcost.InputError, match="`limits`: there is no metric 'opne'"):
        hardcost.gate(gate, events)
    watched = hardcost.HotspotsRequest("audit-samples", metrics=("opne",), how=how)
    with pytest.raises(hardcost.InputError, match="`metrics`: there is no metric 'opne'"):
        hardcost.hotspots(watched, events)
    assert heard == []
    assert not (tmp_path / "s").exists()


def test_a_traceback_has_the_location_and_the_remedy(tmp_path: Path) -> None:
    profile = tmp_path / "a.toml"
    profile.write_text('title = "t"\nboott = ["quiet"]\n')
    with pytest.raises(hardcost.InputError) as raised:
        hardcost.bill(hardcost.BillRequest(profile, how=hardcost.Measuring(machine="fake")))
    shown = "".join(traceback.format_exception(raised.value))
    assert "there is no key 'boott' here\n" in shown
    assert f"{profile}:2\n" in shown
    assert "hint: " in shown


def test_a_call_that_is_given_no_request_says_which_it_takes() -> None:
    anything: Any = "my.rules"
    with pytest.raises(hardcost.InputError, match=r"takes a BillRequest, not 'my\.rules'"):
        hardcost.bill(anything)
    anything = hardcost.BillRequest("my.rules")
    with pytest.raises(hardcost.InputError, match="takes a GateRequest, not BillRequest"):
        hardcost.gate(anything)


def test_an_advice_says_whether_the_profile_was_over_its_budget(tmp_path: Path) -> None:
    rules = tmp_path / "a.rules"
    rules.write_text("-a always,exit -F arch=b64 -S open -k a\n")
    opened = hardcost.workloads_of("syscalls calls=open")
    how = hardcost.Measuring(machine="fake", store=tmp_path / "s", workloads=opened)
    tight, wide = (
        hardcost.advise(hardcost.AdviseRequest(rules, budget=hardcost.budget(text), how=how))
        for text in ("open<=1%", "open<=900%")
    )
    assert (tight.is_over_budget, wide.is_over_budget) == (True, False)
