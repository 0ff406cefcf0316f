"""A finding is read back as it was saved."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from hardcost.analysis.finding_text import finding_from_text, finding_to_text
from hardcost.errors import StoreError
from hardcost.model.finding.study import StudyFinding
from hardcost.show.json import to_json
from tests.show.guests import failed, filecopy, selinux

EARLIER = Path(__file__).parent / "earlier"


def test_a_saved_finding_is_read_back_as_it_was() -> None:
    finding = failed(selinux(), "permissive")
    assert finding_from_text(finding_to_text(finding)) == finding
    assert finding_from_text(finding_to_text(filecopy())) == filecopy()


def test_ratios_that_are_unknown_stay_unknown() -> None:
    (first, *_) = finding_from_text(finding_to_text(failed(selinux(), "none"))).cells
    assert math.isnan(first.ratio)


def test_a_finding_saved_before_trials_could_fail_is_read() -> None:
    body = json.loads(finding_to_text(filecopy()))
    del body["observed"], body["failures"]
    for cell in body["cells"]:
        del cell["each"]
    finding = finding_from_text(json.dumps(body))
    assert isinstance(finding, StudyFinding)
    assert not finding.observed
    assert not finding.failures
    assert finding.cells[0].each == ()


@pytest.mark.parametrize("name", sorted(one.stem for one in EARLIER.glob("*.json")))
def test_what_earlier_versions_saved_is_shown_as_they_showed_it(name: str) -> None:
    """Each file has a finding as it was saved before version 1, and the JSON that was printed."""
    kept = json.loads((EARLIER / f"{name}.json").read_text())
    found = finding_from_text(json.dumps(kept["saved"]))
    shown = json.loads(to_json(found))
    for document in (shown, *shown.get("bills", ())):
        kind = document.pop("kind")
        assert kind in {"bill", "bills", "calls", "choice", "study", "trace"}
        assert document.pop("version") == (2 if kind == "trace" else 1)
        for item in document.get("items", ()):  # each was measured by itself then
            assert item.pop("known") == "measured"
    if "totals" in shown:
        assert shown.pop("profile") == kept["saved"]["bill"]["profile"]
    for one in kept["printed"].get("failures", ()):  # a reason names its trial no more
        one["reason"] = one["reason"].removeprefix(f"{one['configuration']}, {one['workload']}: ")
    for one in kept["printed"].get("traces", ()):  # the model of several processors went
        del one["modelled"]
    if "profiles" in kept["printed"]:  # of calls, which are hotspots now
        kept["printed"]["hotspots"] = kept["printed"].pop("profiles")
    assert shown == kept["printed"]
    assert finding_to_text(finding_from_text(finding_to_text(found))) == finding_to_text(found)


def test_a_trace_saved_with_a_model_is_read_without_it() -> None:
    kept = json.loads((EARLIER / "trace.json").read_text())
    found = json.loads(finding_to_text(finding_from_text(json.dumps(kept["saved"]))))
    model = kept["saved"]["traces"][0]["modelled"]
    traces = [one | {"modelled": model} for one in found["traces"]]
    again = finding_from_text(json.dumps(found | {"version": 1, "traces": traces}))
    assert json.loads(finding_to_text(again)) == found


def test_a_damaged_finding_is_reported() -> None:
    with pytest.raises(StoreError, match="can't be read"):
        finding_from_text("{")


def test_a_finding_nested_too_deeply_is_damaged() -> None:
    with pytest.raises(StoreError, match="can't be read"):
        finding_from_text("[" * 100_000)
