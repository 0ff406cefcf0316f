"""Machines for tests of real ones: this host, and stand-ins for probes that behave badly."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from hardcost.machines.real import probe_command
from hardcost.machines.real.host import HostReach
from hardcost.machines.real.machine import RealMachine, reach_machine
from hardcost.protocol.requests import CallPlan, MeasureCalls
from hardcost.supply.programs import program_path


def this_host(folder: Path | None = None) -> RealMachine:
    """Return this host, its programs those of a folder or the real ones."""
    return asyncio.run(reach_machine(HostReach(folder), probe_command.programs_hash()))


def in_place_of_the_probe(folder: Path, script: str) -> RealMachine:
    """Return this host as it says that it is, with a shell script in place of the probe."""
    machine = this_host()
    probe = folder / probe_command.PROGRAMS[0]
    probe.write_text(f"#!/bin/sh\n{script}\n")
    probe.chmod(0o755)
    return RealMachine(HostReach(folder), machine.facts, machine.programs)


def copied(folder: Path) -> Path:
    """Return a folder with copies of our programs."""
    folder.mkdir(parents=True)
    for name in probe_command.COPIED:
        shutil.copy(program_path(name), folder / name)
    return folder


def calls(*names: str, samples: int = 9) -> MeasureCalls:
    """Return a request to measure calls."""
    rows = tuple(CallPlan(name=n, batch=64, samples=samples, warmup=1, apart=0) for n in names)
    return MeasureCalls(clock="monotonic", calls=rows)
