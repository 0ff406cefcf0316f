"""Where the code of programs and libraries is mapped in the processes of a whole system.

Programs of a distribution have no symbols but those of functions that they export to others; the
rest may be in a debug file on this host. A guest's memory is laid out alike each time, so a trial
without the plugin says where the code of each process lies, and the trial with it names what
executes there: by the function, as `magic_buffer`, or by the file, as `[libmagic.so.1.0.0]`.
Processes that have ended by then, such as the workload's own, stay `[unknown]`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import PurePosixPath

from hardcost.errors import TrialError
from hardcost.machines.machine import Execution
from hardcost.machines.vm.plugin import debug_files
from hardcost.machines.vm.plugin.elf_symbols import Function
from hardcost.protocol.answers import (
    Answer,
    CommandAnswer,
    ContentAnswer,
    NamedAnswer,
    RanAnswer,
    find,
)
from hardcost.protocol.ask import read, run
from hardcost.protocol.requests import Command, Request, RunProgram

AskGuest = Callable[[Sequence[Request], str | None], Awaitable[Execution]]

_NAME = "hardcost-code-maps"
_PLACE = f"/run/{_NAME}"
# Each task's executable maps, behind its name; then the functions of the files in these.
_LIST = (
    "for task in /proc/[0-9]*/task/[0-9]*; do"
    ' printf "name %s\\n" "$(cat "$task/comm")";'
    ' grep -E "^[^ ]+ r.x" "${task%/task/*}/maps";'
    f" done >{_PLACE} 2>/dev/null; perl - {_PLACE}; true"
)
_EXPORTED = "exported-functions.pl"
_OF_FILES = ("file ", "build ", "code ", "symbol ")
_LIMIT = 32 << 20  # bytes of all maps and exported functions
_LONGEST = 60  # characters of a file's name
_WORDS = 6  # of a line of /proc/PID/maps that names a file
_SYMBOL_WORDS = 4  # `symbol OFFSET SIZE NAME`
_CODE_WORDS = 4  # `code ADDRESS OFFSET SIZE`
_SECONDS = 600.0  # of the guest's time


async def count_by_maps(once: AskGuest, job: Sequence[Request]) -> Execution:
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
            "the plugin changed what it watched, or the trial does not repeat: "
            f"{_counts(first)} and {_counts(second)}",
            hint="please report it, with what `hardcost doctor` prints",
        )
    answers = tuple(
        one for one in second.answers if not (isinstance(one, NamedAnswer) and one.name == _NAME)
    )
    return replace(second, answers=answers, host_seconds=first.host_seconds + second.host_seconds)


def programs(answers: Sequence[Answer]) -> str:
    """Return the code of each process as the plugin takes it: the functions of each file's part."""
    found = find(answers, ContentAnswer, _NAME)
    text = (found.text or "" if found else "").splitlines()
    known = _functions_by_file(text)
    lines: dict[str, dict[str, None]] = {}
    code: dict[str, None] = {}
    parts: dict[str, list[str]] = {}
    for line in text:
        if line.startswith("name "):
            code = lines.setdefault(line.removeprefix("name "), {})
        elif not line.startswith(_OF_FILES):
            if line not in parts:  # memory is laid out alike, so many processes have the same lines
                parts[line] = list(_functions(line, known))
            code |= dict.fromkeys(parts[line])
    return "".join(
        f"{line}\n" for name in sorted(lines) for line in (f"program {name}", *lines[name])
    )


def _functions_by_file(lines: Sequence[str]) -> dict[str, list[Function]]:
    """Return files' functions, by their place in the file; of several names the plainest first."""
    files: dict[str, list[str]] = {}
    of_file: list[str] = []
    for line in lines:
        if line.startswith("file "):
            of_file = files.setdefault(line.removeprefix("file "), [])
        elif line.startswith(_OF_FILES):
            of_file.append(line)
    return {
        path: sorted(_debug_functions(said) or _exported_functions(said), key=_place)
        for path, said in files.items()
    }


def _exported_functions(lines: Sequence[str]) -> list[Function]:
    """Return the functions that a file exports."""
    found = []
    for line in lines:
        words = line.split(" ", _SYMBOL_WORDS - 1)
        if words[0] == "symbol" and len(words) == _SYMBOL_WORDS:
            with contextlib.suppress(ValueError):
                found.append(Function(int(words[1], 16), int(words[2], 16), words[3][:_LONGEST]))
    return found


def _debug_functions(lines: Sequence[str]) -> list[Function]:
    """Return the functions in a file's debug file, if any, at their offsets in the file."""
    builds = [line.removeprefix("build ") for line in lines if line.startswith("build ")]
    if not builds:
        return []
    functions = debug_files.functions(builds[0])
    return [
        replace(one, address=one.address - begin + place, name=one.name[:_LONGEST])
        for begin, place, size in _code_parts(lines)
        for one in functions
        if begin <= one.address < begin + size
    ]


def _code_parts(lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the executable parts of a file: address as linked, offset in the file, size."""
    for line in lines:
        words = line.split(" ")
        if words[0] == "code" and len(words) == _CODE_WORDS:
            with contextlib.suppress(ValueError):
                yield int(words[1], 16), int(words[2], 16), int(words[3], 16)


def _place(one: Function) -> tuple[int, int, int, str]:
    # Of several names of one address, the one with the fewest leading underscores, and the
    # shortest.
    return one.address, len(one.name) - len(one.name.lstrip("_")), len(one.name), one.name


def _functions(line: str, known: Mapping[str, Sequence[Function]]) -> Iterator[str]:
    """Yield the functions of a part of a file in order, and the file itself between them."""
    words = line.split(maxsplit=_WORDS - 1)
    if len(words) != _WORDS or not words[-1].startswith("/"):
        return
    first, _, last = words[0].partition("-")
    try:
        at, end, offset = int(first, 16), int(last, 16), int(words[2], 16)
    except ValueError:
        return
    begin = at
    # The kernel marks so a file that was removed or replaced while it is mapped.
    name = PurePosixPath(words[-1].removesuffix(" (deleted)")).name[:_LONGEST]
    for one in known.get(words[-1], ()):
        start = begin + one.address - offset
        if not at <= start < end:
            continue
        if at < start:
            yield f"function {at:x} {start - at:x} [{name}]"
        at = min(start + one.size, end)
        yield f"function {start:x} {at - start:x} {one.name}"
    if at < end:
        yield f"function {at:x} {end - at:x} [{name}]"


def _with_maps(job: Sequence[Request]) -> list[Request]:
    """Return a job that says where code lies, once everything is measured and still there."""
    measuring = [
        at for at, one in enumerate(job) if isinstance(one, RunProgram | Command) and one.clock
    ]
    behind = 1 + max(measuring, default=len(job) - 1)
    exported = (resources.files("hardcost.machines.vm.plugin") / _EXPORTED).read_text()
    asking: list[Request] = [
        run(_NAME, ["sh", "-c", _LIST], stdin=exported, limit_seconds=_SECONDS),
        read(_NAME, _PLACE, tail=_LIMIT),
    ]
    return [*job[:behind], *asking, *job[behind:]]


def _counts(execution: Execution) -> list[int | None]:
    return [one.ticks for one in execution.answers if isinstance(one, RanAnswer | CommandAnswer)]
