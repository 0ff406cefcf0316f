"""What the page's script is given: every control's costs, as text that can't leave its element."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import tomllib
from dataclasses import replace
from typing import Any

from hypothesis import given

from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.bill import Advice, Bill, Total
from hardcost.model.workload import metric_of
from hardcost.show.page.page import to_html
from hardcost.show.page.what_if import data_for_page, script
from hardcost.units import visible
from tests.show.exports.gates import ANY_TEXT, HOSTILE
from tests.show.page.planted import COSTS, SETTINGS, planted


def data(finding: Bill) -> dict[str, Any]:
    """Return the data as `unpacked` of choice.js returns it."""
    text = data_for_page(finding)
    assert text is not None
    found: dict[str, Any] = json.loads(text)
    texts, rows = found.pop("texts"), found.pop("rows")
    for control in found["controls"]:
        for key in ("file", "severity", "caveat"):
            control[key] = texts[control[key]] if key in control else ""
        control["sure"] = [m for m, digit in enumerate(texts[control["sure"]]) if digit == "1"]
        control["cost"], more = rows[control["cost"]], rows[control.pop("more")]
        control["alone"] = [cost + one for cost, one in zip(control["cost"], more, strict=True)]
        control["free"] = control.get("free", False)
    return found


def profile_file(found: dict[str, Any]) -> str:
    """Return the profile's file with all controls."""
    parts = (
        part for text, _ in found["pieces"] for part in ([text] if isinstance(text, str) else text)
    )
    return "".join(
        found["controls"][part]["name"] if isinstance(part, int) else part for part in parts
    )


def test_each_control_has_its_costs_on_each_metric_and_where_it_comes_from() -> None:
    found = data(planted())
    by_name = {one["name"]: one for one in found["controls"]}
    assert next(iter(by_name)) == "kernel.setting_3=1"  # the dearest is the bill's first
    first = by_name["kernel.setting_0=1"]
    assert first["cost"] == [10, 3]
    assert first["alone"] == [387, 503]
    assert (first["file"], first["place"]) == ("20-second.conf", "20-second.conf:1 CCE-0")
    assert [one["cost"] for one in found["metrics"]] == [587, 598]


def test_calls_are_weighed_as_the_bill_is_and_a_program_is_never_added_to_its_parts() -> None:
    found = data(planted())
    assert found["mix"] == [True, True]
    assert found["average"] == "the average system call"
    null, opened = found["weights"]
    assert 0 < null < opened
    bill = planted({"user": COSTS["null"], "wall": COSTS["open"]})
    parts = replace(
        bill,
        totals=tuple(replace(one, unit="insn") for one in bill.totals),
        items=tuple(replace(one, unit="insn") for one in bill.items),
    )
    program = data(parts)
    assert program["mix"] == [False, False]
    assert program["weights"] == [0, 1000]


def test_a_free_control_is_on_no_metric_surely_dear() -> None:
    bill = planted()
    noisy = tuple(replace(one, low=-1.0) for one in bill.items)
    controls = data(replace(bill, items=noisy))["controls"]
    assert all(one["free"] and one["sure"] == [] for one in controls)
    assert all(one["sure"] for one in data(planted())["controls"])


def test_a_cost_that_all_share_is_found_where_all_measurements_fit_it() -> None:
    assert [one["shared"] for one in data(planted())["metrics"]] == [377, None]
    costs = {"additive": lambda on: 2.0 * len(on), "none": lambda _: 0.0}
    assert [one["shared"] for one in data(planted(costs))["metrics"]] == [0, 0]


def test_a_choice_that_a_budget_measured_is_known() -> None:
    finding = planted()
    totals = tuple(Total(metric_of(name), "insn/op", 1000.0, 1042.5, 42.5) for name in COSTS)
    advice = Advice(
        budget=0.05,
        leave_out=(SETTINGS[0].name, SETTINGS[3].name),
        kept=4,
        totals=totals,
        within=True,
    )
    found = data(replace(finding, advice=advice))
    names = [one["name"] for one in found["controls"]]
    (one,) = found["measured"]
    assert {names[index] for index in one["off"]} == set(advice.leave_out)
    assert one["cost"] == [42.5, 42.5]


def test_without_all_costs_there_is_nothing_to_choose() -> None:
    finding = planted()
    for bill in (
        replace(finding, items=finding.items[1:]),
        replace(finding, controls=()),
        replace(finding, pieces=()),
    ):
        assert data_for_page(bill) is None
    assert "<script" not in to_html(replace(finding, pieces=()))


def test_the_policy_allows_just_this_script() -> None:
    page = to_html(planted())
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    (text,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe-eval" not in policy
    assert page.count("<script") == 2
    assert not re.search(r"^(import|export) ", script().text, re.MULTILINE)


@ANY_TEXT
@given(name=HOSTILE, value=HOSTILE)
def test_no_name_leaves_the_element_of_the_data(name: str, value: str) -> None:
    odd = replace(SETTINGS[0], value=f"{value}</script><!--\u2028")
    finding = planted(controls=(odd, *SETTINGS[1:]), name=f"{name}</script>")
    text = data_for_page(finding)
    assert text is not None
    assert not set("<>&") & set(text)
    assert text.isascii()
    found = data(finding)
    assert visible(odd.name) in {one["name"] for one in found["controls"]}
    profile = tomllib.loads(profile_file(found))
    assert profile["sysctl"][odd.key] == odd.value
    assert re.fullmatch(r"[A-Za-z0-9_-]+\.toml", found["file"])


def test_a_hostile_page_has_our_two_elements_and_no_more() -> None:
    odd = replace(SETTINGS[0], value="</script><script>alert(1)</script>{{ 7 }}")
    page = to_html(planted(controls=(odd, *SETTINGS[1:]), name="</script>"))
    assert page.count("<script") == 2
    assert "alert(1)</script>" not in page


def test_two_controls_of_one_name_are_one() -> None:
    twice = (*SETTINGS, Sysctl(SETTINGS[0].key, SETTINGS[0].value))
    assert len(data(planted(controls=twice))["controls"]) == len(SETTINGS)
