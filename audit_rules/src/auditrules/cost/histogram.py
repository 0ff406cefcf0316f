"""How often a workload makes each system call, read from strace, perf trace, bpftrace or JSON.

Four forms are read: the table of `strace -c`, the tables of `perf trace -s`, the maps that bpftrace
prints, and JSON, either `{"openat": 12, …}` or `{"b64": {…}, "b32": {…}}`. Names are those of the
tables of calls. Of bpftrace's maps those are read that count by call: `@calls[b32, login, number]`
as the exported script has it, `@calls[number]`, and `@[tracepoint:syscalls:sys_enter_NAME]`.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from auditrules.cost.predict import Histogram
from auditrules.model.fault import Fault, RulesError
from auditrules.model.location import Location
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

MOST = 1e15  # calls of one kind; more is surely a mistake
_SHOWN = 60  # characters of a line that can't be read which an error repeats
_PLAIN = re.compile(r"[\w.-]{1,64}")

# % time, seconds, usecs/call, calls, errors (may be blank), name
_STRACE = re.compile(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d{1,20})(?:\s+\d+)?\s+(\S+)\s*")
_STRACE_HEAD = re.compile(r"\s*% time\s+seconds\s+usecs/call\s+calls\s+errors\s+syscall\s*")
# name, calls, then errors and times in columns that changed over the years
_PERF = re.compile(r"\s+(\S+)\s+(\d{1,20})(?:\s+[\d.]+%?)+\s*")
_PERF_HEAD = re.compile(r"\s+syscall\s+calls\b.*")
# a map's entry whose value is one number: the map's name, its key, the count
_BPFTRACE = re.compile(r"@(\w*)\[(.*)\]: (\d{1,20})")
_BPFTRACE_HEAD = re.compile(r"Attach(?:ing|ed) \d+ probes?(?:\.\.\.)?")
_BY_NUMBER = re.compile(r"(?:([01]), [01], )?(\d{1,4})")
_BY_PROBE = re.compile(r"tracepoint:syscalls:sys_enter_(\w{1,64})")
_RULER = re.compile(r"[\s()-]*|\s*\((?:msec|%|, )+.*")

_RENAMED: Mapping[str, str] = MappingProxyType(
    {
        "pread64": "pread", "pwrite64": "pwrite", "umount": "umount2", "newfstat": "fstat",
        "newstat": "stat", "newlstat": "lstat", "newuname": "uname", "sendfile64": "sendfile",
        "kexec_load": "sys_kexec_load", "sched_rr_get_interval_time64": "sched_rr_get_interval64",
    }
)  # fmt: skip
"""Names that strace, perf or the kernel have for calls that audit's tables know by another."""


@cache
def general() -> Histogram:
    """Return the mix of calls of a typical general-purpose system, a million in total.

    Its file, `general.toml`, names its source.
    """
    text = (resources.files("auditrules.cost") / "general.toml").read_text()
    return _by_number("general.toml", {"b64": tomllib.loads(text)["calls"]})


def read(content: bytes, file: str) -> Histogram:
    """Return the counts in a file's content; `file` is its name in errors.

    Raises:
        RulesError: It is none of the three forms, names no call, or a line can't be read.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _error(file, line, "this is not UTF-8 text", None) from None
    if text.lstrip().startswith(("{", "[")):
        return _by_number(file, _json(text, file))
    lines = text.splitlines()
    if any(_STRACE_HEAD.fullmatch(line) for line in lines):
        counts = _table(lines, file, _strace_line)
    elif any(_PERF_HEAD.fullmatch(line) for line in lines):
        counts = _table(lines, file, _perf_line)
    elif any(_BPFTRACE_HEAD.fullmatch(line) or _BPFTRACE.fullmatch(line) for line in lines):
        return _by_number(file, _bpftrace(lines, file))
    else:
        raise _error(
            file,
            1,
            "this does not count system calls",
            "give what `strace -c`, `perf trace -s` or bpftrace with the exported calls.bt prints,"
            ' or JSON such as {"openat": 12}',
        )
    return _by_number(file, {"b64": counts})


_Row = tuple[str, int] | None


def _table(
    lines: list[str], file: str, reader: Callable[[str, bool], tuple[bool, _Row | str]]
) -> dict[str, float]:
    """Return the counts in the tables among lines; `reader` says of a line whether one goes on."""
    counts: defaultdict[str, float] = defaultdict(float)
    within = False
    for number, line in enumerate(lines, 1):
        within, found = reader(line, within)
        if isinstance(found, str):
            raise _error(file, number, found, "is the table complete?")
        if found is not None:
            name, calls = found
            counts[name] += _check_count(calls, name, file, number)
    return dict(counts)


def _strace_line(line: str, within: bool) -> tuple[bool, _Row | str]:  # noqa: FBT001  (a state)
    if _STRACE_HEAD.fullmatch(line):
        return True, None
    if not within or not line.strip(" -"):
        return within and bool(line.strip()), None
    row = _STRACE.fullmatch(line)
    if row is None:
        return within, f"this is not a line of `strace -c`: {line[:_SHOWN]!r}"
    return (False, None) if row[2] == "total" else (True, (row[2], int(row[1])))


def _perf_line(line: str, within: bool) -> tuple[bool, _Row | str]:  # noqa: FBT001  (a state)
    if _PERF_HEAD.fullmatch(line):
        return True, None
    if not within or not line.strip():
        return False, None
    if _RULER.fullmatch(line):
        return True, None
    row = _PERF.fullmatch(line)
    if row is None:
        return within, f"this is not a line of `perf trace -s`: {line[:_SHOWN]!r}"
    return True, (row[1], int(row[2]))


def _bpftrace(lines: list[str], file: str) -> dict[Arch, dict[str, float]]:
    """Return the counts in bpftrace's maps by call; other maps and lines are not looked at."""
    found: dict[Arch, defaultdict[str, float]] = {
        arch: defaultdict(float) for arch in lookup.ARCHES
    }
    for at, line in enumerate(lines, 1):
        entry = _BPFTRACE.fullmatch(line.rstrip())
        if entry is None:
            continue
        number, probe = _BY_NUMBER.fullmatch(entry[2]), _BY_PROBE.fullmatch(entry[2])
        call: tuple[Arch, str]
        if probe is not None:
            call = "b64", probe[1]
        elif entry[1] != "calls":
            continue
        elif number is not None:
            call = ("b32" if number[1] == "1" else "b64"), f"syscall_{number[2]}"
        else:
            raise _error(file, at, f"this counts no system call: {line[:_SHOWN]!r}", None)
        arch, name = call
        found[arch][name] += _check_count(int(entry[3]), name, file, at)
    return {arch: dict(counts) for arch, counts in found.items()}


def _json(text: str, file: str) -> dict[Arch, dict[str, float]]:
    try:
        data = json.loads(text, parse_constant=lambda word: word)
    except json.JSONDecodeError as error:
        raise _error(file, error.lineno, f"this is not JSON: {error.msg}", None) from None
    except RecursionError:
        raise _error(
            file, 1, "this is not an object of counts: it is nested too deeply", None
        ) from None
    except ValueError:
        raise _error(
            file, None, "this is not an object of counts: a number is too long", None
        ) from None
    if not isinstance(data, dict):
        raise _error(file, 1, "this is not an object of counts", 'write {"openat": 12}')
    by_arch = data if data and set(data) <= set(lookup.ARCHES) else {"b64": data}
    found: dict[Arch, dict[str, float]] = {}
    for arch in lookup.ARCHES:
        counts = by_arch.get(arch, {})
        if not isinstance(counts, dict):
            raise _error(file, 1, f"{arch} is no object of counts", 'write {"openat": 12}')
        found[arch] = {
            name: _check_count(count, name, file, _line_of(text, name))
            for name, count in counts.items()
        }
    return found


def _check_count(count: Any, name: str, file: str, line: int | None) -> float:  # noqa: ANN401  (JSON)
    number = isinstance(count, int | float) and not isinstance(count, bool)
    if not number or not 0 <= count <= MOST:  # not a number is neither less nor more
        raise _error(
            file, line, f"the count of {name[:_SHOWN]!r} is not a number from 0 to {MOST:g}", None
        )
    return float(count)


def _line_of(text: str, name: str) -> int | None:
    at = text.find(json.dumps(name))
    return text.count("\n", 0, at) + 1 if at >= 0 else None


def _by_number(file: str, counts: Mapping[Arch, Mapping[str, float]]) -> Histogram:
    """Return the counts by number of the call."""
    found: defaultdict[tuple[Arch, int], float] = defaultdict(float)
    faults = []
    for arch, by_name in counts.items():
        known = lookup.calls(arch)
        for name, count in by_name.items():
            number = known.get(name, known.get(_RENAMED.get(name, "")))
            if number is None and re.fullmatch(r"syscall_(\d{1,4}|0x[0-9a-f]{1,3})", name):
                number = int(name.removeprefix("syscall_"), 0)
            if number is None:
                shown = name if _PLAIN.fullmatch(name) else repr(name[:_SHOWN])
                faults.append(Fault(f"{arch} has no system call {shown}", Location(file)))
            else:
                found[arch, number] += count
    if faults:
        raise RulesError(tuple(faults))
    if not sum(found.values()):
        raise _error(file, None, "it does not count any system call", None)
    return MappingProxyType(dict(found))


def _error(file: str, line: int | None, message: str, remedy: str | None) -> RulesError:
    return RulesError((Fault(message, Location(file, line), remedy),))
