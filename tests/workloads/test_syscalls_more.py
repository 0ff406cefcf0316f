"""The workload `syscalls-more`: calls of its own, asked for and read as those of `syscalls`."""

from __future__ import annotations

import pytest
from tests.protocol.said import as_sent

from hardcost.errors import InputError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import syscalls, syscallsmore
from hardcost.workloads.names import asked


def test_it_has_calls_of_its_own_with_numbers_for_every_instrument() -> None:
    assert len(syscalls.calls()) == 26
    assert not syscalls.calls().keys() & syscalls.more().keys()
    for one in syscalls.more().values():
        assert all(one.batch[name] >= 1 and one.samples[name] % 2 == 1 for name in INSTRUMENTS)
    assert f" {len(syscalls.more())} calls" in syscallsmore.TITLE


def test_each_workload_takes_its_own_calls() -> None:
    parameters = asked(syscallsmore, {"calls": "ptrace+bind"})
    (request,) = as_sent(syscallsmore.requests(parameters, INSTRUMENTS["insn"]))
    assert [row["name"] for row in request["calls"]] == ["ptrace", "bind"]
    with pytest.raises(InputError):
        asked(syscallsmore, {"calls": "open"})
    with pytest.raises(InputError):
        asked(syscalls, {"calls": "ptrace"})
