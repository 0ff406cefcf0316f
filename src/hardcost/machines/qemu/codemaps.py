"""Which program's and library's code lies where in the processes of a whole system.

Programs of a distribution have no symbols. But a guest's memory is laid out alike each time, so a
trial without the plugin says where the code of each process lies, and the trial with it names what
executes there by its file, as `[libmagic.so.1.0.0]`. Processes that have ended by then, such as the
workload's own, stay `[unknown]`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from hardcost.errors import TrialError
from hardcost.protocol.answers import CommandAnswer, ContentAnswer, Named, RanAnswer, find
from hardcost.protocol.requests import Command, Run, read, run

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from hardcost.machines.machine import Execution
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

    Once = Callable[[Sequence[Request], str | None], Awaitable[Execution]]

_NAME = "hardcost-code-maps"
_PLACE = f"/run/{_NAME}"
_LIST = (
    "for task in /proc/[0-9]*/task/[0-9]*; do"
    ' printf "name %s\\n" "$(cat "$task/comm")";'
    ' grep -E "^[^ ]+ r.x" "${task%/task/*}/maps";'
    f" done >{_PLACE} 2>/dev/null; true"
)
_LIMIT = 16 << 20  # bytes of all maps; with every daemon of a STIG there are 0.1 million
_LONGEST = 60  # characters of a file's name
_WORDS = 6  # of a line of /proc/PID/maps that names a file
_SECONDS = 600.0  # of the guest's time


async def profiled(once: Once, job: Sequence[Request]) -> Execution:
    """Carry a whole system's job out without the plugin, then with it, and return the latter.

    `once` carries a job out: with the plugin, if it is given what `programs` returns.

    Raises:
        TrialError: The counts differ.
    """
    asking = _with_maps(job)
    first = await once(asking, None)
    second = await once(asking, programs(first.answers))
    if _counts(first) != _counts(second):
        raise TrialError(
            "the profiler changed what it watched, or the trial does not repeat: "
            f"{_counts(first)} and {_counts(second)}",
            hint="please report it, with what `hardcost doctor` prints",
        )
    answers = tuple(
        one for one in second.answers if not (isinstance(one, Named) and one.name == _NAME)
    )
    return replace(second, answers=answers, host_seconds=first.host_seconds + second.host_seconds)


def programs(answers: Sequence[Answer]) -> str:
    """Return the code of each process as the plugin takes it: a function for each file's part."""
    found = find(answers, ContentAnswer, _NAME)
    lines: dict[str, dict[str, None]] = {}
    code: dict[str, None] = {}
    for line in (found.text or "" if found else "").splitlines():
        if line.startswith("name "):
            code = lines.setdefault(line.removeprefix("name "), {})
        else:
            code |= dict.fromkeys(_function(line))
    return "".join(
        f"{line}\n" for name in sorted(lines) for line in (f"program {name}", *lines[name])
    )


def _function(line: str) -> Iterator[str]:
    words = line.split(maxsplit=_WORDS - 1)
    if len(words) != _WORDS or not words[-1].startswith("/"):
        return
    begin, _, end = words[0].partition("-")
    try:
        size = int(end, 16) - int(begin, 16)
    except ValueError:
        return
    name = PurePosixPath(words[-1].removesuffix(" (deleted)")).name[:_LONGEST]
    yield f"function {begin} {size:x} [{name}]"


def _with_maps(job: Sequence[Request]) -> list[Request]:
    """Return a job that says where code lies, once everything is measured and still there."""
    measuring = [at for at, one in enumerate(job) if isinstance(one, Run | Command) and one.clock]
    behind = 1 + max(measuring, default=len(job) - 1)
    asking: list[Request] = [
        run(_NAME, ["sh", "-c", _LIST], limit_seconds=_SECONDS),
        read(_NAME, _PLACE, tail=_LIMIT),
    ]
    return [*job[:behind], *asking, *job[behind:]]


def _counts(execution: Execution) -> list[int | None]:
    return [one.ticks for one in execution.answers if isinstance(one, RanAnswer | CommandAnswer)]
