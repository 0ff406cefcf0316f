"""A bill by search, before anything is measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import tests.fakes.machine
from hardcost.controls.control import Profile
from hardcost.library.bills.search import most_configurations
from hardcost.machines.options import MachineOptions
from hardcost.mechanisms.boot import BootParameter
from hardcost.plan.search import culprits
from hardcost.plan.search.questions import SearchSettings
from hardcost.protocol.boot import Boot
from hardcost.supply.progress import Listener
from tests.cli.verbs.conversation import said
from tests.fakes.machine import FakeMachine

KERNELS = """\
title = "Two options"
kernel = "lean"
kconfig = ["SLUB_DEBUG_ON=y", "INIT_STACK_ALL_ZERO=y"]
"""
SEARCH = "bill kernels.toml --machine fake --jobs 1 --method search --most 5"


def test_the_most_configurations_are_foreseen_unless_the_user_says_fewer() -> None:
    profile = Profile("p", "t", "", tuple(BootParameter(f"word{n}") for n in range(40)))
    found = culprits.suspects(profile)
    assert most_configurations(found, SearchSettings(threshold=0.01)) == 72
    assert most_configurations(found, SearchSettings(threshold=0.01, most=12)) == 12


class TestKernelOptions:
    """A machine is asked what options do to a kernel before the search has a plan."""

    made: list[FakeMachine]
    fetched: list[Boot]

    @pytest.fixture(autouse=True)
    def _machines(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Work in an empty folder, and note which machines are made and what they fetch."""
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "x.sqlite"))
        (tmp_path / "kernels.toml").write_text(KERNELS)
        self.made, self.fetched, make = [], [], tests.fakes.machine.make

        async def noted(wanted: MachineOptions, listener: Listener) -> FakeMachine:
            machine = await make(wanted, listener)
            machine.capabilities = dataclasses.replace(machine.capabilities, kernels=self.kernels)
            monkeypatch.setattr(machine, "fetch", self.fetch)
            self.made.append(machine)
            return machine

        self.kernels = True
        monkeypatch.setattr(tests.fakes.machine, "make", noted)

    def fetch(self, boots: Sequence[Boot], _note: Callable[[str], None]) -> None:
        self.fetched += boots

    def test_a_run_has_one_machine(self, capsys: pytest.CaptureFixture[str]) -> None:
        printed = said(f"{SEARCH} --workload 'syscalls calls=null'", capsys)
        assert printed.endswith("--- status 0\n")
        assert len(self.made) == 1
        assert self.fetched

    @pytest.mark.parametrize("more", ["", "--dry-run"])
    def test_what_is_beyond_the_machine_is_refused_before_anything_is_fetched(
        self, more: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.kernels = False
        printed = said(f"{SEARCH} --workload 'syscalls calls=null' {more}", capsys)
        assert "the machine fake can't do what is asked: it boots no kernels" in printed
        assert "asking Kconfig" not in printed
        assert printed.endswith("--- status 2\n")
        assert (len(self.made), self.fetched) == (1, [])

    def test_a_wrong_workload_is_refused_before_a_machine_is_made(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        printed = said(f"{SEARCH} --workload 'syscalls calls=nul'", capsys)
        assert printed.endswith("--- status 2\n")
        assert self.made == []
