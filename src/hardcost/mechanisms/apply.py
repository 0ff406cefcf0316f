"""Applying controls: what is booted, what the probe is asked to do, and whether it took.

A control of a whole Debian system comes before a job's workload in `requests`, after it in
`finish`, where services are stopped once they have done all that they were given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.controls.control import SystemControl
from hardcost.controls.mechanisms import (
    auditctl,
    auditd,
    boot,
    fapolicyd,
    kconfig,
    lsm,
    mount,
    placebo,
    rsyslog,
    scanner,
    service,
    sysctl,
)
from hardcost.controls.mechanisms import logged as log
from hardcost.protocol.requests import Count, Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control
    from hardcost.errors import InputError, Problem
    from hardcost.instruments.audit import Logged
    from hardcost.machines.bootline import Verdict
    from hardcost.machines.machine import KernelRecipe
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

# Services take up what those before them hand on: auditd needs a syslog daemon to speak to, and
# what hooks into every opened file comes last. They are stopped in the opposite order.
_LIVE = (lsm, mount, sysctl, placebo, service, rsyslog, auditd, auditctl, scanner, fapolicyd)
_STOPPED = (fapolicyd, scanner, auditd, rsyslog, lsm)
_COUNTED = (auditd, rsyslog)


def packages(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the Debian packages that the controls are made of, for a result to tell versions."""
    made_of = (one.packages for one in controls if isinstance(one, SystemControl))
    return tuple(dict.fromkeys(package for some in made_of for package in some))


def boot_parameters(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the words that the controls add to the kernel's command line.

    Raises:
        InputError: One is not a single word.
    """
    mechanisms = (lsm, boot, placebo)
    return tuple(word for one in mechanisms for word in one.boot_parameters(controls))


def kernel(controls: Sequence[Control]) -> KernelRecipe | None:
    """Return the kernel that has to be built for the controls; None: the machine's own will do.

    Raises:
        InputError: There are options and no kernel to set them on.
    """
    return kconfig.recipe(controls)


def shipped_kernel(controls: Sequence[Control]) -> str | None:
    """Return the name of the kernel that boots as it is; None if the controls name none.

    Raises:
        InputError: There are options or patches for it.
    """
    return kconfig.shipped(controls)


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what the probe is asked to do, before any workload.

    Raises:
        InputError: A control can't be applied.
    """
    return tuple(request for mechanism in _LIVE for request in mechanism.requests(controls))


def can_do_without(request: Request) -> bool:
    """Say whether a machine that runs already is not asked for a request of the controls."""
    return isinstance(request, Run | Count) and request.name in lsm.ONLY_IN_GUESTS


def finish(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what the probe is asked to do after the workload: services stopped, records counted.

    What is stopped has handed on or written all that it was given before.
    """
    stopping = (request for mechanism in _STOPPED for request in mechanism.finish(controls))
    counting = (request for mechanism in _COUNTED for request in mechanism.counting(controls))
    return (*stopping, *counting)


def booted(
    controls: Sequence[Control], verdicts: Sequence[Verdict]
) -> tuple[tuple[Problem, ...], tuple[str, ...]]:
    """Return what is wrong with the controls' boot parameters, and notes on what is not known.

    `verdicts` are the guest's kernel's.
    """
    return boot.refused(controls, verdicts), boot.notes(controls, verdicts)


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check in the probe's answers that every live control took; return notes for the reader.

    What a guest's kernel says of boot parameters is no answer of the probe's: see `booted`.

    Raises:
        InputError: The guest's own tools refused a control, such as a rule that is misspelt.
        TrialError: A control did not take.
    """
    return tuple(note for mechanism in _LIVE for note in mechanism.verify(controls, answers))


def logged(answers: Sequence[Answer]) -> Logged:
    """Return what daemons wrote down of audit, counted after the workload."""
    return log.logged(answers)


def explain(controls: Sequence[Control], message: str) -> InputError | None:
    """Return the user's error behind a failure that the probe reports; None if it is another.

    The probe ends at a request that fails, so that there are no answers to verify.
    """
    mechanisms = (sysctl, auditctl, auditd)
    return next(filter(None, (one.explain(controls, message) for one in mechanisms)), None)
