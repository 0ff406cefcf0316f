"""Machines are found by name, and each makes what the interface asks for."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.machines import names
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot
from hardcost.machines.wanted import Wanted
from hardcost.run.monitor import Silent

if TYPE_CHECKING:
    from pathlib import Path


def test_a_machine_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(InputError, match="no machine 'nosuch'") as error:
        names.check("nosuch", Wanted())
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


@pytest.mark.parametrize("module", names._MAKERS.values())
def test_every_maker_checks_and_makes(module: str) -> None:
    maker = import_module(module)
    assert callable(maker.check)
    assert asyncio.iscoroutinefunction(maker.make)


@pytest.mark.parametrize("module", names._EXAMINERS.values())
def test_every_machine_can_be_examined_and_tried(module: str) -> None:
    examiner = import_module(module)
    assert callable(examiner.examine)
    assert asyncio.iscoroutinefunction(examiner.try_out)
    assert names._EXAMINERS.keys() == names._MAKERS.keys()


def test_the_fake_lacks_nothing_and_has_both_instruments(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    checks = (*names.examine("fake", cache), *asyncio.run(names.try_out("fake", cache)))
    assert [check.name for check in checks if check.ok] == ["instrument insn", "instrument time"]
    with pytest.raises(InputError, match="no machine 'nosuch'"):
        names.examine("nosuch", cache)


def test_the_fake_is_hidden_needs_nothing_and_is_no_other_machine() -> None:
    assert "fake" not in names.TITLES
    names.check("fake", Wanted(cpu="no such model"))
    fake = asyncio.run(names.make("fake", Wanted(), Silent()))
    assert fake.identity(Boot())["machine"] == "fake"
    assert fake.remarks
