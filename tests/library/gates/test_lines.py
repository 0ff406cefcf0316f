"""The lines of a change are verified in groups, and cost what they cost one by one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hardcost.library.bills import verification
from hardcost.library.gate import GateRequest, gate
from hardcost.library.measurement import Measuring, workloads_of
from hardcost.model.finding.change import Gate
from hardcost.store.store import Store
from tests.cli.verbs.conversations import EIGHT

FEW = "kernel.sysrq = 1\n"


def gate_of(base: str, head: str, folder: Path, store: str) -> tuple[Gate, int]:
    """Return the gate of two files of sysctls, and the number of trials that it took."""
    paths = folder / "base.conf", folder / "head.conf"
    for path, text in zip(paths, (base, head), strict=True):
        path.write_text(text)
    how = Measuring(
        machine="fake",
        jobs=1,
        workloads=workloads_of("syscalls calls=null+chmod"),
        store=folder / store,
    )
    found = gate(GateRequest(str(paths[0]), str(paths[1]), how=how))
    with Store(folder / store, read_only=True) as opened:
        return found, sum(1 for _ in opened.records())


@pytest.mark.parametrize("states", [(FEW, EIGHT), (EIGHT, FEW)], ids=["added", "removed"])
def test_lines_in_groups_cost_what_they_do_one_by_one(
    states: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, _ = gate_of(*states, tmp_path, "groups.sqlite")
    with monkeypatch.context() as patched:
        patched.setattr(verification, "hindrances", lambda *_: ["anything"])
        theirs, _ = gate_of(*states, tmp_path, "single.sqlite")
    parts = [[replace(part, known="measured") for part in one.parts] for one in ours.growths]
    assert parts == [list(one.parts) for one in theirs.growths]
    assert [one.difference for one in ours.growths] == [one.difference for one in theirs.growths]
    assert any("verified in groups" in note for note in ours.notes)
    assert not any("verified in groups" in note for note in theirs.notes)


def test_many_lines_take_few_trials(tmp_path: Path) -> None:
    more = "".join(f"net.ipv4.conf.all.send_redirects{n} = 0\n" for n in range(40))
    _, trials = gate_of(FEW, FEW + more, tmp_path, "runs.sqlite")
    assert trials < 30
