from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, NoReturn

import pytest
from tests.report.guests import failed, filecopy, selinux

from hardcost.analysis.saved import packed, unpacked
from hardcost.cli import finding as finding_module
from hardcost.cli.present import notes_of
from hardcost.errors import StoreError
from hardcost.store.record import Record
from hardcost.workloads import postfix

if TYPE_CHECKING:
    from pathlib import Path


def record(workload: str) -> Record:
    return Record(
        identity=workload,
        configuration="none",
        workload=workload,
        instrument="insn",
        seed=0,
        repetition=0,
        measured=(),
        environment={},
        notes=(),
        start_seconds=0.0,
        host_seconds=0.0,
    )


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


def test_a_damaged_finding_is_told() -> None:
    with pytest.raises(StoreError, match="can't be read"):
        unpacked("{")


def test_what_differs_from_debians_configuration_of_a_server_is_told_once() -> None:
    records = [record("postfix mails=1"), record("syscalls"), record("postfix mails=2")]
    assert notes_of(records) == (postfix.SETTINGS,)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_report_is_written_where_nobody_reads_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def gone(*_: object) -> NoReturn:
        raise BrokenPipeError

    monkeypatch.setattr(finding_module, "show", gone)
    monkeypatch.setattr("builtins.print", gone)
    monkeypatch.setattr(finding_module, "note", lambda _: None)
    with pytest.raises(BrokenPipeError):
        finding_module.present(filecopy(), form, tmp_path / "r.html")
    assert "</html>" in (tmp_path / "r.html").read_text()
