from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from hardcost.cli.output import finding
from hardcost.library.measurement import notes_of
from hardcost.model.role import role_of
from hardcost.model.workload import workload_of
from hardcost.store.record import Record
from hardcost.workloads import postfix
from tests.show.guests import filecopy


def record(workload: str) -> Record:
    return Record(
        identity=workload,
        role=role_of("none"),
        workload=workload_of(workload),
        instrument="insn",
        seed=0,
        repetition=0,
        measured=(),
        environment={},
        notes=(),
        start_seconds=0.0,
        host_seconds=0.0,
    )


def test_what_differs_from_debians_configuration_of_a_server_is_reported_once() -> None:
    records = [record("postfix mails=1"), record("syscalls"), record("postfix mails=2")]
    assert notes_of(records) == (postfix.KIND.settings,)


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_report_is_written_where_nobody_reads_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    def gone(*_: object) -> NoReturn:
        raise BrokenPipeError

    monkeypatch.setattr(finding, "show", gone)
    monkeypatch.setattr("builtins.print", gone)
    monkeypatch.setattr(finding, "note", lambda _: None)
    whole = filecopy()
    few = replace(
        whole, cells=tuple(one for one in whole.cells if one.metric == "wall"), observed=()
    )
    with pytest.raises(BrokenPipeError):
        finding.print_and_report(few, form, finding.Page(tmp_path / "r.html", tmp_path))
    assert "</html>" in (tmp_path / "r.html").read_text()
