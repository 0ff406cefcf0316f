"""Machines are found by name, and each makes what the interface asks for."""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.machines import names, titles
from hardcost.machines.options import MachineOptions
from hardcost.measure.monitor import Silent
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from tests.fakes.kinds import FAKE, FAKE_HOST

KINDS = (*names._KINDS.values(), FAKE, FAKE_HOST)
ANY = MachineOptions()


def test_a_machine_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match="no machine 'nosuch'") as error:
        names.check("nosuch", MachineOptions())
    assert error.value.problems[0].hint == "the machines are: vm, host, ssh:USER@HOST"


def test_a_machine_that_takes_nothing_after_a_colon_is_not_named_with_it() -> None:
    assert names.is_known("fake")
    assert not names.is_known("fake:somewhere")
    assert not names.is_known("host:somewhere")


def test_a_host_behind_ssh_is_named_with_its_address() -> None:
    assert names.is_known("ssh:web1")
    assert not names.is_known("ssh")
    assert not names.is_known("ssh:")


def test_no_worker_measures_for_a_machine_whose_times_are_its_own() -> None:
    for name in ("host", "ssh:web1"):
        with pytest.raises(MachineError, match=f"no worker can measure for the machine {name}"):
            names.facts(name)


@pytest.mark.parametrize("module", sorted({kind.make for kind in KINDS}))
def test_every_maker_checks_and_makes(module: str) -> None:
    maker = import_module(module)
    assert callable(maker.check)
    assert asyncio.iscoroutinefunction(maker.make)


@pytest.mark.parametrize("module", sorted({kind.examine for kind in KINDS}))
def test_every_machine_can_be_examined_and_tried(module: str) -> None:
    examiner = import_module(module)
    assert callable(examiner.examine)
    assert asyncio.iscoroutinefunction(examiner.try_out)


def test_the_fake_lacks_nothing_and_has_both_instruments(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    checks = (*names.examine("fake", cache, ANY), *asyncio.run(names.try_out("fake", cache, ANY)))
    assert [check.name for check in checks if check.ok] == ["instrument insn", "instrument time"]
    with pytest.raises(InputError, match="no machine 'nosuch'"):
        names.examine("nosuch", cache, ANY)


def test_the_fake_is_hidden_needs_nothing_and_is_no_other_machine() -> None:
    assert "fake" not in titles.TITLES
    names.check("fake", MachineOptions(cpu="no such model"))
    fake = asyncio.run(names.make("fake", MachineOptions(), Silent()))
    assert fake.identity(Boot())["machine"] == "fake"
    assert fake.remarks
