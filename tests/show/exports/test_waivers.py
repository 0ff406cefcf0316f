from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hardcost.controls.control import Profile
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.decision import Decision
from hardcost.profiles.decision_entry import GivenUp
from hardcost.show.exports import waivers
from hardcost.units import visible

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
OPEN = GivenUp(
    control="-a always,exit -S open",
    ids=("audit_open", "CCE-1-1"),
    severity="medium",
    metric="open",
    cost=117.0,
    low=115.5,
    high=118.0,
    unit="insn/op",
    baseline=3307.0,
    conditions="bill of stig on syscalls",
    reason="too dear",
)
BARE = GivenUp(control="kernel.x=1")
quick = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
HOSTILE = st.one_of(
    st.text(max_size=40),
    st.sampled_from(
        [
            "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", '"', '","', "a\nb",
            "|", "`", "]]>", "<script>", "{{ x }}", "\\", "\x1b[2J", "\u202e", "${x}", "$(x)",
        ]
    ),
)  # fmt: skip
MANY = st.lists(
    st.builds(
        GivenUp,
        control=HOSTILE.filter(bool),
        ids=st.lists(HOSTILE, max_size=2).map(tuple),
        metric=HOSTILE,
        unit=HOSTILE,
        cost=st.floats(-1e9, 1e9),
        baseline=st.floats(0, 1e9),
        conditions=HOSTILE,
        reason=HOSTILE,
    ),
    max_size=3,
)


def decision(*given_up: GivenUp, title: str = "stig") -> Decision:
    return Decision(Profile("p", title, "", (Sysctl("kernel.y", "1"),)), given_up)


def test_raw_leaves_the_mark_out_of_waivers() -> None:
    (row,) = rows(waivers.WRITERS["csv --raw"](decision(OPEN), NOW))
    assert row["control"] == OPEN.control


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def unguarded(cell: str) -> str:
    """Return what a cell says, as docs/accounting.md explains it."""
    return cell.removeprefix("'")


def plan(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)["plan-of-action-and-milestones"]
    return found


def test_a_row_has_the_cost_with_its_interval_and_conditions() -> None:
    (row,) = rows(waivers.csv_text(decision(OPEN), NOW))
    assert tuple(row) == waivers.COLUMNS
    assert row["control"] == "'-a always,exit -S open"
    assert (row["cost"], row["low"], row["high"]) == ("117.0", "115.5", "118.0")
    assert float(row["share_of_baseline"]) == pytest.approx(0.03538, abs=1e-5)
    assert (row["severity"], row["conditions"]) == ("medium", "bill of stig on syscalls")


def test_a_rewritten_rule_comes_with_the_lines_of_its_source() -> None:
    lines = ("-a always,exit -S open -k a", "-a always,exit -S openat -k a")
    one = OPEN.model_copy(update={"place": "a.rules:3, a.rules:5", "stands_for": lines})
    (row,) = rows(waivers.csv_text(decision(one), NOW))
    assert (row["place"], unguarded(row["source_lines"])) == (one.place, "; ".join(lines))
    shown = waivers.markdown_text(decision(one), NOW).replace("\\", "")
    assert f"a.rules:3, a.rules:5: {'; '.join(lines)}" in shown
    (item,) = plan(waivers.oscal_text(decision(one), NOW))["poam-items"]
    assert lines[1] in item["description"]


def test_an_unknown_cost_is_empty_and_said_to_be_unknown() -> None:
    (row,) = rows(waivers.csv_text(decision(BARE), NOW))
    assert (row["cost"], row["low"], row["share_of_baseline"]) == ("", "", "")
    assert "Nothing was measured of its cost" in waivers.markdown_text(decision(BARE), NOW).replace(
        "\\", ""
    )


def test_evidence_is_a_sentence_with_unit_interval_and_share() -> None:
    assert waivers.evidence(OPEN) == (
        "open: +117.0 insn/op (95 % interval 115.5 to 118.0), 3.5% of the 3,307.0 without the"
        " profile."
    )


@quick
@given(MANY)
def test_csv_is_read_back_and_no_cell_is_a_formula(given_up: list[GivenUp]) -> None:
    text = waivers.csv_text(decision(*given_up), NOW)
    found = rows(text)
    assert len(found) == len(given_up)
    for row, one in zip(found, given_up, strict=True):
        for name in ("control", "conditions", "reason", "unit", "metric"):
            own = visible(getattr(one, name))
            assert unguarded(row[name]) == own
            assert not row[name].startswith(("=", "+", "-", "@", "\t", "\r"))
        assert unguarded(row["ids"]) == visible(" ".join(one.ids))


@quick
@given(MANY, HOSTILE)
def test_markdown_has_a_line_for_each_control_and_no_markup_of_theirs(
    given_up: list[GivenUp], title: str
) -> None:
    text = waivers.markdown_text(decision(*given_up, title=title), NOW)
    lines = text.splitlines()
    assert len(lines) == 4 + len(given_up)
    for line in lines[4:]:
        unescaped = line.replace("\\\\", "").replace("\\|", "")
        assert unescaped.count("|") == 8
        assert "<" not in unescaped.split("|", 2)[2].replace("\\<", "")


@quick
@given(MANY, HOSTILE)
def test_oscal_holds_texts_as_they_are(given_up: list[GivenUp], title: str) -> None:
    found = plan(waivers.oscal_text(decision(*given_up, title=title), NOW))
    titles = [one["title"] for one in found["poam-items"]]
    assert titles == [visible(one.control) for one in given_up]
    assert [one["description"] for one in found.get("risks", ())] == [
        f"This control is not applied: {one.control}" for one in given_up
    ]
    reasons = [one.reason or "Reason: to be filled in." for one in given_up]
    assert [one["remarks"] for one in found["poam-items"]] == reasons
    conditions = [one["description"] for one in found.get("observations", ())]
    assert all(
        said == one.conditions
        for said, one in zip(conditions, given_up, strict=True)
        if one.conditions
    )


def test_items_refer_to_their_own_risk_and_observation_and_keep_their_uuids() -> None:
    text = waivers.oscal_text(decision(OPEN, OPEN, BARE), NOW)
    found = plan(text)
    observed = [one["uuid"] for one in found["observations"]]
    assert len(set(observed)) == 3
    for nth, item in enumerate(found["poam-items"]):
        assert item["related-observations"] == [{"observation-uuid": observed[nth]}]
        assert item["related-risks"] == [{"risk-uuid": found["risks"][nth]["uuid"]}]
    assert text == waivers.oscal_text(decision(OPEN, OPEN, BARE), NOW)
