"""A run's trials: names belong to what was asked for, identity to what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.protocol.said import typed

from hardcost.cli import session
from hardcost.design.plan import Configuration, Trial, Workload
from hardcost.machines.cache import Cache
from hardcost.machines.fake import FakeMachine
from hardcost.store.store import Store
from hardcost.trial.bootlines import BootLines
from hardcost.trial.trial import prepare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

    from hardcost.machines.machine import Boot
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

DONE = {"event": "command", "ticks": 5000}
LINES = BootLines()
LIMITS = session.Limits(2, None)


class Ready(FakeMachine):
    """A machine on which nothing is to be made first."""

    def __init__(self) -> None:
        super().__init__(self._done)

    @staticmethod
    def _done(_boot: Boot, _job: Sequence[Request]) -> list[Answer]:
        return typed([DONE])

    def is_ready(self, _boot: Boot) -> bool:
        return True


def test_the_same_state_under_two_names_is_measured_once_and_shown_under_both(
    tmp_path: Path,
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(b"\x7fELF the same")
    machine: Any = Ready()
    machine.cache = Cache(tmp_path / "cache")
    prepared = [
        prepare(
            Trial(
                Configuration(configuration),
                Workload("command", (("file", str(tmp_path / name)),)),
                "insn",
                0,
            ),
            machine,
        )
        for name in ("a", "b")
        for configuration in ("none", "also none")
    ]
    assert len({one.identity for one in prepared}) == 1
    with Store(tmp_path / "s") as store:
        run = store.start("run", "plan", "study", fresh=False)
        for _ in range(2):  # measured, then out of the store
            records, failures = session._measured(
                run, prepared, machine, store, limits=LIMITS, lines=LINES
            )
            shown = [(record.configuration, record.workload) for record in records]
            assert shown == [
                (one.trial.configuration.name, str(one.trial.workload)) for one in prepared
            ]
            assert not failures
    assert len(machine.started) == 1


def test_a_damaged_record_is_told_and_measured_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").write_bytes(b"\x7fELF")
    machine: Any = Ready()
    machine.cache = Cache(tmp_path / "cache")
    workload = Workload("command", (("file", str(tmp_path / "a")),))
    prepared = [prepare(Trial(Configuration("none"), workload, "insn", 0), machine)]
    with Store(tmp_path / "s") as store:
        run = store.start("run", "plan", "study", fresh=False)
        session._measured(run, prepared, machine, store, limits=LIMITS, lines=LINES)
        store._connection.execute("UPDATE records SET body = '{}'")
        records, _ = session._measured(run, prepared, machine, store, limits=LIMITS, lines=LINES)
    assert [one.measured[0].samples for one in records] == [(5000,)]
    assert len(machine.started) == 2
    assert "is damaged: " in capsys.readouterr().err
