"""The load beside a job on a machine that is also used otherwise, as its own kernel counts it.

The probe reads the kernel's files before the job and after it, so nothing else is needed there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from hardcost.protocol.answers import Answer, CallAnswer, ContentAnswer, all_of
from hardcost.protocol.requests import Read, Request

_MARK = "surroundings"
_WHEN = ("before", "after")
_TAIL = 1 << 20
_TICKS = 100.0  # USER_HZ, in which /proc/stat counts on every machine that hardcost knows
_BUSY = (0, 1, 2, 5, 6)  # user, nice, system, irq, softirq: columns of a processor's line
_STEAL = 7  # the column of the time that a hypervisor gave to others
_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*(\S+)$", re.MULTILINE)
_MEGAHERTZ = re.compile(r"^cpu MHz\s*:\s*(\d+(?:\.\d+)?)$", re.MULTILINE)


def with_readings(job: Sequence[Request], cpu: int | None) -> tuple[Request, ...]:
    """Return a job that reads, before and after, what the kernel counts of a processor."""
    before, after = (tuple(_reads(when, cpu)) for when in _WHEN)
    return (*before, *job, *after)


def split_readings(
    answers: Sequence[Answer],
) -> tuple[tuple[Answer, ...], dict[str, dict[str, str]]]:
    """Return the job's own answers, and what was read around them: texts by file, by when."""
    texts: dict[str, dict[str, str]] = {when: {} for when in _WHEN}
    own: list[Answer] = []
    for one in answers:
        mark, _, rest = one.name.partition(" ") if isinstance(one, ContentAnswer) else ("", "", "")
        when, _, what = rest.partition(" ")
        if mark == _MARK and when in texts and isinstance(one, ContentAnswer):
            texts[when][what] = one.text or ""
        else:
            own.append(one)
    return tuple(own), texts


def surroundings(texts: Mapping[str, Mapping[str, str]], cpu: int | None) -> dict[str, float]:
    """Return the load beside the job, by name, as far as the kernel reports it.

    `steal_seconds` the hypervisor gave to others, `busy_seconds` the measured processor worked (all
    of them where none is pinned), `interrupts` came to it, `switches` from process to process there
    were on all processors; `megahertz` is the processor's frequency afterwards, `megahertz_before`
    the one before; `load` is the average of the last minute, before. `pinned` is 1 where the job
    was held on that processor, 0 where it could not be.
    """
    before, after = (texts.get(when, {}) for when in _WHEN)
    found: dict[str, float] = {}
    old, new = (_times(one.get("stat", ""), cpu) for one in (before, after))
    if old and new:
        found["busy_seconds"] = sum(new[at] - old[at] for at in _BUSY) / _TICKS
        found["steal_seconds"] = (new[_STEAL] - old[_STEAL]) / _TICKS
    for name, read in (("interrupts", _interrupts), ("switches", _switches)):
        counts = [read(one, cpu) for one in (before, after)]
        if counts[0] is not None and counts[1] is not None:
            found[name] = counts[1] - counts[0]
    for name, some in (("megahertz_before", before), ("megahertz", after)):
        if (speed := _megahertz(some.get("cpuinfo", ""), cpu)) is not None:
            found[name] = speed
    throttles = [_number(one.get("throttles", "")) for one in (before, after)]
    if throttles[0] is not None and throttles[1] is not None:
        found["throttles"] = throttles[1] - throttles[0]
    if cpu is not None and (allowed := _ALLOWED.search(before.get("status", ""))):
        found["pinned"] = float(allowed[1] == str(cpu))
    if (load := _number(before.get("loadavg", ""))) is not None:
        found["load"] = load
    return {name: max(0.0, value) for name, value in found.items()}


def companions(answers: Sequence[Answer]) -> dict[str, float]:
    """Return the least share of a call's windows in which a copy beside it ran; {}: none had one.

    A copy does not run while it waits, for a child or for what the copies share, or while another
    process has its processor.
    """
    shares = [
        ran / sum(one.samples)
        for one in all_of(answers, CallAnswer)
        for ran in one.companions.values()
        if sum(one.samples)
    ]
    return {"companions": min(shares)} if shares else {}


def _reads(when: str, cpu: int | None) -> list[Request]:
    throttles = f"/sys/devices/system/cpu/cpu{cpu or 0}/thermal_throttle/core_throttle_count"
    paths = {
        "stat": "/proc/stat",
        "interrupts": "/proc/interrupts",
        "cpuinfo": "/proc/cpuinfo",
        "loadavg": "/proc/loadavg",
        "throttles": throttles,
        "status": "/proc/self/status",
    }
    return [
        Read(name=f"{_MARK} {when} {what}", path=path, tail=_TAIL) for what, path in paths.items()
    ]


def _times(stat: str, cpu: int | None) -> tuple[float, ...]:
    """Return the columns of a processor's line in /proc/stat, of all if it is None."""
    name = "cpu" if cpu is None else f"cpu{cpu}"
    for line in stat.splitlines():
        word, *columns = line.split() or [""]
        if word == name and len(columns) > _STEAL:
            numbers = tuple(_number(column) for column in columns)
            return tuple(number or 0.0 for number in numbers)
    return ()


def _interrupts(texts: Mapping[str, str], cpu: int | None) -> float | None:
    """Return how many interrupts came to a processor, to all if it is None."""
    head, *lines = texts.get("interrupts", "").splitlines() or [""]
    names = head.split()
    total = 0.0
    for line in lines:
        for name, word in zip(names, line.split()[1:], strict=False):
            if cpu is None or name == f"CPU{cpu}":
                total += _number(word) or 0.0
    return total if names else None


def _switches(texts: Mapping[str, str], cpu: int | None) -> float | None:  # noqa: ARG001  (as above)
    for line in texts.get("stat", "").splitlines():
        if line.startswith("ctxt "):
            return _number(line.removeprefix("ctxt "))
    return None


def _megahertz(cpuinfo: str, cpu: int | None) -> float | None:
    speeds = [float(found) for found in _MEGAHERTZ.findall(cpuinfo)]
    if not speeds:
        return None
    return speeds[cpu] if cpu is not None and cpu < len(speeds) else max(speeds)


def _number(text: str) -> float | None:
    """Return the first word of a text as a number; None if it is none."""
    word = (text.split() or [""])[0]
    if len(word) > 20 or not re.fullmatch(r"\d+(?:\.\d+)?", word):  # noqa: PLR2004  (digits)
        return None
    return float(word)
