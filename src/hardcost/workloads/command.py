"""The workload `command`: a program of the user's own, run once from start to end.

The program is a static binary where the small guest runs it, which holds hardly any libraries; it
runs as an ordinary user and is measured from its start until it is reaped.
"""

from __future__ import annotations

import base64
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hardcost.errors import InputError, TrialError
from hardcost.workloads.measured import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.instruments.instrument import Instrument

NAME = "command"
TITLE = "a program of your own, from start to end, its waiting included"
PARAMETERS = {
    "file": "the program on this machine (required; an x86_64 binary, a static one unless the guest"
    ' is a whole Debian, as a study with lsm = "none" has it)',
    "args": "its arguments, joined by '+'",
}
AUDIT_NOTE = (
    "the program's cost holds handing its audit records to the daemon, which here only counts them"
)
GUEST: Final = "small"
PACKAGES: Final[tuple[str, ...]] = ()
_PLACE = "/usr/local/bin/command"
_NOT_FOUND = 127  # a shell's status for it, and the dynamic loader's
_NO_LIBRARY = re.compile(r"shared librar\w+: ([^\s:]+)")
_NO_LOADER = "os error 2"  # of a file that is there: what it is to be loaded by is not
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


def remedy(parameters: Mapping[str, str], guest: str, reason: str) -> str | None:
    """Return what to do where a trial failed for what `guest` lacks; None where that is not why."""
    library = _NO_LIBRARY.search(reason)
    loader = _PLACE in reason and _NO_LOADER in reason
    if library is None and not loader and f"status {_NOT_FOUND}" not in reason:
        return None
    what = f"the library {library[1]}" if library else "what the program is loaded by or starts"
    file = parameters["file"]
    if guest == "debian":
        return (
            f"this Debian guest does not hold {what}: link {file} with -static, or bring a system"
            " that holds it by --image or --rootfs"
        )
    return (
        f"the small guest does not hold {what}: link {file} with -static, or run it in a whole"
        ' Debian: `hardcost run STUDY.toml` with lsm = "none" in each [[configuration]]'
    )


def _program(parameters: Mapping[str, str]) -> bytes:
    if "file" not in parameters:
        raise InputError(
            "the workload command needs a program",
            hint="--workload 'command file=PROGRAM args=A+B'",
        )
    path = Path(parameters["file"])
    try:
        content = path.read_bytes()
    except OSError as error:
        found = shutil.which(path) if len(path.parts) == 1 else None
        raise InputError(
            f"the program {path} can't be read: {error.strerror}",
            hint=f"file={found} names the one on your PATH" if found else None,
        ) from error
    if not content.startswith(b"\x7fELF"):
        raise InputError(
            f"{path} is not a program that the guest can run: it is no ELF file",
            hint="a script is an argument of its interpreter, whose file is the program",
        )
    if len(content) > _LIMIT:
        raise InputError(f"{path} is larger than {_LIMIT >> 20} MiB")
    return content
