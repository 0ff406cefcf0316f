"""The workload `command`: a program of the user's own, run once from start to end.

The program is a static binary, since the small guest holds no libraries of its own; it runs as an
ordinary user and is measured from its start until it is reaped.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardcost import files
from hardcost.errors import InputError, TrialError
from hardcost.workloads.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.instruments.instrument import Instrument

NAME = "command"
TITLE = "a static program of your own, from start to end, its waiting included"
PARAMETERS = {
    "file": "the program on this machine (required; a static x86_64 binary)",
    "args": "its arguments, joined by '+'",
}
AUDIT_NOTE = (
    "the program's cost holds handing its audit records to the daemon, which here only counts them"
)
GUEST: Final = "small"
PACKAGES: Final[tuple[str, ...]] = ()
_HINT = "the small guest runs static binaries: link yours with -static"
_PLACE = "/usr/local/bin/command"
_LIMIT = 32 << 20  # bytes of a program: the guest's memory holds it three times


def requests(parameters: Mapping[str, str], instrument: Instrument) -> list[dict[str, Any]]:
    """Return what the probe is asked to do.

    Raises:
        InputError: The program is not named, can't be read, or is not a static program's file.
    """
    content = _program(parameters)
    words = parameters["args"].split("+") if parameters.get("args") else []
    return [
        {
            "do": "install",
            "path": _PLACE,
            "mode": 0o755,
            "base64": base64.b64encode(content).decode(),
        },
        {"do": "command", "clock": instrument.clock, "argv": [_PLACE, *words]},
    ]


def measured(
    parameters: Mapping[str, str], answers: Sequence[Mapping[str, Any]], instrument: Instrument
) -> tuple[Measured, ...]:
    """Return the one metric `wall`, in the instrument's unit for a whole run.

    Raises:
        TrialError: The program failed: its cost would mean nothing.
    """
    done = next((answer for answer in answers if answer["event"] == "command"), None)
    if done is None:
        raise TrialError("the guest did not run the program")
    if done["status"] != 0:
        how = f"signal {done['signal']}" if done["status"] is None else f"status {done['status']}"
        raise TrialError(
            f"{parameters['file']} ended with {how} in the guest: {done['stderr'][:200]!r}"
        )
    audit = done.get("audit")
    return (
        Measured(
            metric="wall",
            unit=instrument.whole,
            samples=(done["ticks"],),
            fired=None if audit is None else audit["by_key"],
            lost=0 if audit is None else audit["lost"],
        ),
    )


def _program(parameters: Mapping[str, str]) -> bytes:
    if "file" not in parameters:
        raise InputError(
            "the workload command needs a program",
            hint="--workload 'command file=PROGRAM args=A+B'",
        )
    path = Path(parameters["file"])
    content = files.content(path, "the program", _LIMIT, _HINT)
    if not content.startswith(b"\x7fELF"):
        raise InputError(
            f"{path} is not a program that the guest can run",
            hint=_HINT,
        )
    return content
