"""Applying controls: the boot, the requests to the probe, and the check that they took.

A control of a whole Debian system comes before a job's workload in `requests`, after it in
`finish`, where services are stopped once they have done all that they were given.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.controls.control import Control
from hardcost.errors import InputError, Problem
from hardcost.mechanisms.registry import ALL
from hardcost.protocol.answers import Answer
from hardcost.protocol.boot import WordVerdict
from hardcost.protocol.requests import CountLog, Request, RunProgram

_IN_ORDER = tuple(sorted(ALL, key=lambda one: one.phase))
_REVERSED = _IN_ORDER[::-1]  # what was started last is stopped first: it may use the others
_ONLY_IN_GUESTS = frozenset(name for one in ALL for name in one.only_in_guests)


def packages(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the Debian packages that the controls are made of, for a result to state versions."""
    return tuple(dict.fromkeys(package for one in controls for package in one.packages))


def boot_parameters(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the words that the controls add to the kernel's command line.

    Raises:
        InputError: One is not a single word.
    """
    return tuple(word for one in _IN_ORDER for word in one.boot_parameters(controls))


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return the requests to the probe before any workload.

    Raises:
        InputError: A control can't be applied.
    """
    return tuple(request for one in _IN_ORDER for request in one.requests(controls))


def can_do_without(request: Request) -> bool:
    """Say whether a machine that runs already is not asked for a request of the controls."""
    return isinstance(request, RunProgram | CountLog) and request.name in _ONLY_IN_GUESTS


def finish(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return the requests after the workload, which stop services and count records.

    What is stopped has handed on or written all that it was given before.
    """
    stopping = (request for one in _REVERSED for request in one.finish(controls))
    counting = (request for one in _REVERSED for request in one.counting(controls))
    return (*stopping, *counting)


def check_boot(
    controls: Sequence[Control], verdicts: Sequence[WordVerdict]
) -> tuple[tuple[Problem, ...], tuple[str, ...]]:
    """Return the problems of the controls' boot parameters, and notes on unknown ones.

    `verdicts` are the guest's kernel's.
    """
    found = [one.check_boot(controls, verdicts) for one in _IN_ORDER]
    return (
        tuple(problem for problems, _ in found for problem in problems),
        tuple(note for _, notes in found for note in notes),
    )


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check in the probe's answers that every live control took; return notes for the reader.

    What a guest's kernel says of boot parameters is no answer of the probe's: see `check_boot`.

    Raises:
        InputError: The guest's own tools refused a control, such as a rule that is misspelt.
        TrialError: A control did not take.
    """
    return tuple(note for one in _IN_ORDER for note in one.verify(controls, answers))


def explain(controls: Sequence[Control], message: str) -> InputError | None:
    """Return the user's error behind a failure that the probe reports; None if it is another.

    The probe ends at a request that fails, so that there are no answers to verify.
    """
    return next(filter(None, (one.explain(controls, message) for one in _IN_ORDER)), None)
