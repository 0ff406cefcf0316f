"""The workload `syscalls-more`: calls of its own, asked for and read as those of `syscalls`."""

from __future__ import annotations

import pytest

from hardcost.errors import InputError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.workloads import syscalls, syscalls_more
from tests.protocol.json_messages import as_sent


def test_it_has_calls_of_its_own_with_numbers_for_every_instrument() -> None:
    assert not syscalls.calls().keys() & syscalls.more().keys()
    for one in syscalls.more().values():
        assert all(
            one.batch_under(of) >= 1 and one.samples_under(of) % 2 == 1
            for of in INSTRUMENTS.values()
        )


def test_each_workload_takes_its_own_calls() -> None:
    parameters = syscalls_more.KIND.read_parameters({"calls": "ptrace+bind"})
    (request,) = as_sent(syscalls.requests(parameters, INSTRUMENTS["insn"]))
    assert [row["name"] for row in request["calls"]] == ["ptrace", "bind"]
    with pytest.raises(InputError):
        syscalls_more.KIND.read_parameters({"calls": "open"})
    with pytest.raises(InputError):
        syscalls.KIND.read_parameters({"calls": "ptrace"})
