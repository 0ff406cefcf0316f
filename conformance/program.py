"""The program that makes the calls (crates/conformance): built, run in a guest, and its answers.

Machines, guests and the probe know nothing of it: to them it is a file to be written, a program to
be run to its end, and a file to be read.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hardcost.errors import MachineError, TrialError
from hardcost.host.process import run
from hardcost.machines.machine import Machine
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, ContentAnswer, all_of
from hardcost.protocol.ask import install, read
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request

ProgramAnswer = dict[str, Any]
"""An answer of the program: one JSON object with the word `event`."""

_PROJECT = Path(__file__).resolve().parent.parent
_BUILD = ("cargo", "build", "--release", "--locked", "--message-format", "json", "--package")
_BUILD_LIMIT_SECONDS = 1800.0
_FOLDER = "/run/conformance"
_PROGRAM, _JOB, _ANSWERS = (f"{_FOLDER}/{name}" for name in ("program", "job", "answers"))
_MOST_ANSWERED = 1 << 28  # bytes


@functools.cache
def built(package: str = "hardcost-conformance") -> Path:
    """Return a program of this project's, built unless it is up to date.

    Raises:
        MachineError: It can't be built.
    """
    said = run(
        [*_BUILD, package],
        folder=_PROJECT,
        remedy="`make setup` installs Rust",
        limit_seconds=_BUILD_LIMIT_SECONDS,
    )
    programs = [line["executable"] for line in map(json.loads, said.splitlines()) if _is_one(line)]
    if not programs:
        raise MachineError(f"cargo built no program of {package}")
    return Path(programs[-1])


def _is_one(line: dict[str, object]) -> bool:
    return bool(line.get("executable"))


def carry_out(
    machine: Machine,
    boot: Boot,
    first: Sequence[Request],
    job: dict[str, Any],
    limit_seconds: float,
) -> list[ProgramAnswer]:
    """Have the program do `job` in one guest, after `first` was asked of the probe.

    Raises:
        TrialError: The guest or the program did not do its job.
    """
    requests = (*first, *requests_of(job, built().read_bytes(), limit_seconds))
    execution = asyncio.run(machine.execute(boot, requests, limit_seconds))
    return answers_in(execution.answers)


def requests_of(job: dict[str, Any], program: bytes, limit_seconds: float) -> tuple[Request, ...]:
    """Return the requests by which a guest does a job."""
    return (
        install(_PROGRAM, program, 0o755),
        install(_JOB, json.dumps(job)),
        ask.run("conformance", [_PROGRAM, "job", _JOB, _ANSWERS], limit_seconds=limit_seconds),
        read("conformance", _ANSWERS, _MOST_ANSWERED),
    )


def answers_in(answers: Sequence[Answer]) -> list[ProgramAnswer]:
    """Return what the program answered, out of the probe's answers.

    Raises:
        TrialError: It is not there, or no JSON.
    """
    texts = [one.text for one in all_of(answers, ContentAnswer)]
    if len(texts) != 1 or not texts[0]:
        raise TrialError("the guest's program left no answers")
    try:
        return [json.loads(line) for line in texts[0].splitlines()]
    except ValueError as error:
        raise TrialError(f"the guest's program answered no JSON: {error}") from error
