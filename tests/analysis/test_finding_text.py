"""A finding is read back as it was saved."""

from __future__ import annotations

import json
import math

import pytest
from tests.report.guests import failed, filecopy, selinux

from hardcost.analysis.saved import packed, unpacked
from hardcost.errors import StoreError


def test_a_saved_finding_is_read_back_as_it_was() -> None:
    finding = failed(selinux(), "permissive")
    assert unpacked(packed(finding)) == finding
    assert unpacked(packed(filecopy())) == filecopy()


def test_ratios_that_are_unknown_stay_unknown() -> None:
    (first, *_) = unpacked(packed(failed(selinux(), "none"))).cells
    assert math.isnan(first.ratio)


def test_a_finding_saved_before_trials_could_fail_is_read() -> None:
    body = json.loads(packed(filecopy()))
    del body["observed"], body["failures"]
    for cell in body["cells"]:
        del cell["each"]
    finding = unpacked(json.dumps(body))
    assert not finding.observed
    assert not finding.failures
    assert finding.cells[0].each == ()


def test_a_damaged_finding_is_reported() -> None:
    with pytest.raises(StoreError, match="can't be read"):
        unpacked("{")


def test_a_finding_nested_too_deeply_is_damaged() -> None:
    with pytest.raises(StoreError, match="can't be read"):
        unpacked("[" * 100_000)
