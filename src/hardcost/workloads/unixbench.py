"""The workload `unixbench`: the work of UnixBench's twelve tests.

It is done by `hardcost-unixbench`, a static program of our own, written from what is published
about the tests. Its Dhrystone and Whetstone are alike in kind, not in code, so that an index of it
can be compared with another of it, and not with one of UnixBench. With `program=…/Run` UnixBench
itself is run, where the guest holds it, and its table is read (`workloads/unixbench_table.py`).

An exact instrument counts the work of a fixed number of loops; there is no index then, since that
is made of rates. Otherwise each test runs for some seconds, and there is one if all twelve ran.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from hardcost.errors import InputError, TrialError
from hardcost.files import json_value
from hardcost.instruments.instrument import Instrument
from hardcost.protocol.answers import Answer
from hardcost.protocol.ask import install
from hardcost.protocol.requests import Request
from hardcost.units import Unit
from hardcost.workloads import programs, unixbench_table
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import (
    JOINED,
    ONCE,
    WorkloadParameters,
    one_of,
    refusal,
    whole_number,
)

NAME = "unixbench"


_PROGRAM = "hardcost-unixbench"
_PLACE = f"/usr/local/bin/{_PROGRAM}"
_MOST_COPIES = 64
_MOST_WORK = 1000
_MOST_SECONDS = 600
_CPUS = "cpus"
_RUN = "Run"  # what the request is called that runs UnixBench itself
_RUN_LIMIT_SECONDS = 4 * 3600
_NS_PER_SECOND = 1e9
_SPARE_SECONDS = 600  # beyond what a test is to take


@dataclass(frozen=True)
class BenchmarkTest:
    """A test: its title in UnixBench's table, the unit of its rate there, and what is index 10.

    `rate` turns operations in a second into that unit; `loops` is the work under `insn`.
    """

    name: str
    title: str
    unit: str
    baseline: float
    rate: float
    loops: int


@cache
def tests() -> dict[str, BenchmarkTest]:
    """Return all tests by name, in the order of UnixBench's table."""
    text = (resources.files("hardcost.workloads") / "unixbench.toml").read_text()
    return {name: BenchmarkTest(name=name, **facts) for name, facts in tomllib.loads(text).items()}


def _in_guest(path: object) -> object:
    """Refuse a path that is not absolute."""
    if isinstance(path, str) and not path.startswith("/"):
        hint = "it is an absolute path in an image of your own (--image), such as"
        raise refusal(path, f"{hint} /home/user/UnixBench/Run")
    return path


_TestName = Annotated[str, one_of("tests", tests)]


class Parameters(WorkloadParameters):
    """Which tests are run, how many copies of each, and how long; or UnixBench itself."""

    copies: Annotated[int | Literal["cpus"], whole_number(_MOST_COPIES, words={_CPUS: _CPUS})] = (
        Field(
            1,
            description="how many of each test at once, 1 to 64, or cpus: one for each"
            " (default: 1)",
        )
    )
    tests: Annotated[tuple[_TestName, ...], JOINED, ONCE] = Field(
        default_factory=lambda: tuple(tests()),
        description="joined by '+', such as pipe+execl (default: all)",
    )
    work: Annotated[int, whole_number(_MOST_WORK)] = Field(
        1, description="under insn: times so many loops, 1 to 1000 (default: 1)"
    )
    seconds: Annotated[int, whole_number(_MOST_SECONDS)] = Field(
        3, description="under time: of each test, 1 to 600 (default: 3; published: 10 to 60)"
    )
    program: Annotated[str | None, BeforeValidator(_in_guest)] = Field(
        None, description="UnixBench's own Run in the guest, to be run instead of hardcost's"
    )

    def check(self, instrument: Instrument) -> None:
        """Check that the values are for this instrument.

        Raises:
            InputError: UnixBench itself is to be counted; or seconds are given to an exact
                instrument, or loops to another.
        """
        if self.program is not None and instrument.exact:
            raise InputError(
                "UnixBench itself runs for a time and can't be counted",
                hint="--instrument time, or leave program out: our own work is counted exactly",
            )
        wrong = "seconds" if instrument.exact else "work"
        if self.program is None and wrong in self.model_fields_set:
            raise InputError(
                f"the workload {NAME} has no use for {wrong} under the instrument"
                f" {instrument.name}",
                hint="an exact instrument counts a fixed number of loops, another measures seconds",
            )


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe."""
    names, copies = _chosen_tests(parameters), str(parameters.copies)
    if parameters.program is not None:
        return [_original(parameters.program, names, copies, instrument)]
    span, seconds = _span(parameters, instrument)
    program = (resources.files("hardcost") / "bin" / _PROGRAM).read_bytes()
    job: list[Request] = [install(_PLACE, program, 0o755)]
    for name in names:
        much = span or ["--loops", str(tests()[name].loops * parameters.work)]
        words = [_PLACE, name, *much, "--copies", copies, "--clock", instrument.clock]
        job.append(programs.as_user(name, words, instrument, limit_seconds=seconds))
    return job


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return each test's cost for one operation, and the index where time was measured.

    Raises:
        TrialError: A test failed or had a wrong result.
    """
    names = _chosen_tests(parameters)
    if parameters.program is not None:
        answer = programs.successful_answer(answers, _RUN, parameters.program)
        titles = {tests()[name].title: name for name in names}
        table = unixbench_table.read(answer.stdout, set(titles))
        rates = {titles[title]: rate for title, rate in table.rates.items()}
        found = [_cost(name, rates[name], instrument) for name in names]
        if table.index is not None:
            found.append(programs.metric("index", Unit.INDEX, table.index))
        return tuple(found)
    found, rates = [], {}
    for name in names:
        answer = programs.successful_answer(answers, name, f"the test {name}")
        operations, ticks = _read_result(answer.stdout, name)
        found.append(programs.metric(name, instrument.per_op, ticks / operations, [answer]))
        rates[name] = operations / ticks * _NS_PER_SECOND * tests()[name].rate
    if not instrument.exact and len(rates) == len(tests()):
        found.append(programs.metric("index", Unit.INDEX, index(rates)))
    return tuple(found)


def index(rates: Mapping[str, float]) -> float:
    """Return UnixBench's index: the geometric mean of ten times each rate over its baseline.

    `rates` are by test, in the unit of UnixBench's table.
    """
    each = [10 * rate / tests()[name].baseline for name, rate in rates.items()]
    return math.prod(each) ** (1 / len(each))


def _chosen_tests(parameters: Parameters) -> tuple[str, ...]:
    return programs.in_order(parameters.tests, tests())


def _span(parameters: Parameters, instrument: Instrument) -> tuple[list[str] | None, float]:
    """Return the words for a test's time, None where it is loops; and a limit in seconds."""
    if instrument.exact:
        return None, _SPARE_SECONDS * parameters.work
    return ["--seconds", str(parameters.seconds)], parameters.seconds + _SPARE_SECONDS


def _original(program: str, names: Sequence[str], copies: str, instrument: Instrument) -> Request:
    """Return the request to run UnixBench itself."""
    tests_of_run = [unixbench_table.WORDS[tests()[name].title] for name in names]
    number = '"$(nproc)"' if copies == _CPUS else copies
    script = f'cd "$(dirname "$0")" && exec "$0" -c {number} "$@"'
    return programs.as_user(
        _RUN,
        ["sh", "-c", script, program, *tests_of_run],
        instrument,
        limit_seconds=_RUN_LIMIT_SECONDS,
    )


def _cost(name: str, rate: float, instrument: Instrument) -> MetricSamples:
    """Return what an operation of a test took, out of its rate in UnixBench's table."""
    amount = _NS_PER_SECOND * tests()[name].rate / rate
    return programs.metric(name, instrument.per_op, amount)


def _read_result(text: str, name: str) -> tuple[float, int]:
    """Return the operations and ticks that the program printed."""
    try:
        result = json_value(text)
        operations, ticks = float(result["operations"]), int(result["ticks"])
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise TrialError(f"the test {name} said nothing of use: {text[:200]!r}") from error
    if result.get("test") != name or not (operations > 0 and ticks > 0):
        raise TrialError(f"the test {name} said nothing of use: {text[:200]!r}")
    return operations, ticks


KIND = WorkloadKind(
    name=NAME,
    title=(
        "the work of UnixBench's twelve tests by a program of our own, for one operation of each;"
        " and the published index, of which more is better, where time is measured"
    ),
    parameters=Parameters,
    audit_note="a test's cost holds the work of daemons on its records until it ends",
    guest="debian",
    packages=("coreutils", "dash", "grep"),
    # Ticks fall elsewhere when a load begins later (docs/determinism.md).
    resolution=0.005,
    requests=requests,
    measured=read_metrics,
)
