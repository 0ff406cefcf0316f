"""How often a machine's system calls are made: counted for some seconds.

bpftrace counts with the least overhead, then perf; both need rights. Else /proc has the reads and
writes of processes and how many processes were made; all other calls are assumed to be as frequent
beside these as in the mix of a general-purpose system. strace slows what it looks at, and counts
only for a process that is named.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Literal, get_args

from auditrules.cost.histogram import general, read
from auditrules.cost.predict import Histogram
from auditrules.model.fault import RulesError
from auditrules.tables import lookup
from hardcost.errors import MachineError
from hardcost.units import visible

Counter = Literal["bpftrace", "perf", "strace", "proc"]
"""What counts calls; `proc` counts some, and the rest is assumed."""

_READING = ("read", "pread", "readv", "preadv")
_WRITING = ("write", "pwrite", "writev", "pwritev")
_STARTING = ("clone", "clone3", "fork", "vfork")
_OF_PROCESSES = ("execve", "execveat", "wait4", "waitid", "exit", "exit_group")
_OF_FILE = re.compile(r"/proc/([0-9]{1,10})/io:sysc([rw]): ([0-9]{1,20})")
_MADE = re.compile(r"processes ([0-9]{1,20})")
_AFTER = "after"
_NO_PROCESS = "No such process"  # strace names the number before it


@dataclass(frozen=True)
class Sample:
    """For how many seconds calls are counted, and of which process; None: of the whole machine."""

    seconds: int
    process: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The arguments of `count_calls`."""
        return (str(self.seconds), *(() if self.process is None else (str(self.process),)))


@dataclass(frozen=True)
class CountedCalls:
    """How often each call was made, who counted, and how many were counted.

    `why` says why no program counted, where /proc did.
    """

    mix: Histogram
    by: Counter
    calls: int
    why: str = ""


def counting_script() -> str:
    """Return the shell's function that counts."""
    return resources.files("hardcost.in_force").joinpath("count_calls.sh").read_text("utf-8")


def counted(text: str) -> CountedCalls:
    """Return what `count_calls` printed.

    Raises:
        MachineError: Nothing was counted, or it can't be read.
    """
    by, _, said = text.partition("\n")
    for known in get_args(Counter):
        if by == known:
            return _of_proc(said) if known == "proc" else _of_program(known, said)
    raise MachineError(f"the system calls were not counted: {visible(by)}")


def _of_program(by: Counter, said: str) -> CountedCalls:
    try:
        mix = read(said.encode(errors="surrogateescape"), by)
    except RulesError as error:
        lines = [line for line in said.splitlines() if line.strip()]
        last = visible(lines[-1].strip()) if lines else str(error)
        if by == "strace" and _NO_PROCESS in last:
            raise MachineError(last, hint="`ps -e` lists the processes") from None
        raise MachineError(
            f"{by} counted no system calls: {last}",
            hint="count as root, and while it does its usual work",
        ) from None
    return CountedCalls(mix, by, round(math.fsum(mix.values())))


def _of_proc(said: str) -> CountedCalls:
    why, _, rest = said.partition("\n")
    lines = rest.splitlines()
    at = lines.index(_AFTER) if _AFTER in lines else len(lines)
    before, after = _counts(lines[:at]), _counts(lines[at + 1 :])
    made = after.get(_MADE_KEY, 0) - before.get(_MADE_KEY, 0)
    reads, writes = (_grown(before, after, kind) for kind in "rw")
    if reads + writes <= 0:
        raise MachineError(
            "neither bpftrace nor perf could count system calls, and /proc shows no reads or"
            f" writes: {visible(why)}",
            hint="count as root, or give counts by --histogram",
        )
    mix = _assumed_beside(reads, writes, max(made, 0))
    return CountedCalls(mix, "proc", reads + writes + max(made, 0), visible(why.rstrip("; ")))


_Key = tuple[str, str]
_MADE_KEY: _Key = ("", "made")


def _counts(lines: Sequence[str]) -> dict[_Key, int]:
    """Return the counts of lines: of reads and writes by process, and of processes made."""
    found: dict[_Key, int] = {}
    for line in lines:
        if (of := _OF_FILE.fullmatch(line)) is not None:
            found[of[1], of[2]] = int(of[3])
        elif (made := _MADE.fullmatch(line)) is not None:
            found[_MADE_KEY] = int(made[1])
    return found


def _grown(before: Mapping[_Key, int], after: Mapping[_Key, int], kind: str) -> int:
    """Return by how much the counts of a kind grew; of a process that ended nothing is known."""
    grown = (count - before.get(key, 0) for key, count in after.items() if key[1] == kind)
    return sum(max(one, 0) for one in grown)


def _assumed_beside(reads: int, writes: int, made: int) -> Histogram:
    """Return the mix of a general-purpose system with these counts in place of its own.

    What belongs to making processes is as frequent beside them as there, all else beside reads and
    writes.
    """
    usual = general()

    def frequent(names: Sequence[str]) -> float:
        return math.fsum(count for key, count in usual.items() if lookup.call_name(*key) in names)

    of_reads, of_writes = reads / frequent(_READING), writes / frequent(_WRITING)
    of_processes = made / frequent(_STARTING)
    of_others = (reads + writes) / frequent((*_READING, *_WRITING))

    def factor(name: str) -> float:
        if name in _READING:
            return of_reads
        if name in _WRITING:
            return of_writes
        return of_processes if name in {*_STARTING, *_OF_PROCESSES} else of_others

    return MappingProxyType(
        {key: count * factor(lookup.call_name(*key)) for key, count in usual.items()}
    )
