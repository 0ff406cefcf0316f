"""The workload `boot`: the machine's own word on a guest, or none."""

from __future__ import annotations

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.insn import INSN
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.time import TIME
from hardcost.protocol.answers import BootedAnswer
from hardcost.workloads.boot import KIND, Parameters


def test_the_metric_is_what_the_machine_says() -> None:
    assert KIND.requests(Parameters(), INSN) == []
    (found,) = KIND.measured(Parameters(), (BootedAnswer(instructions=743_112_166),), INSN)
    assert (found.metric, found.unit, found.samples) == ("until-ready", "insn", (743_112_166.0,))


def test_without_a_snapshot_there_is_no_number() -> None:
    with pytest.raises(TrialError, match="not known of this guest"):
        KIND.measured(Parameters(), (), INSN)


@pytest.mark.parametrize("instrument", [TIME, PARALLEL], ids=lambda one: str(one.name))
def test_a_clock_is_refused(instrument: object) -> None:
    with pytest.raises(InputError, match="counts the instructions"):
        Parameters().check(instrument)  # type: ignore[arg-type]
