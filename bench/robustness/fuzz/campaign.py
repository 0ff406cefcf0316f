"""Runs a target on inputs without end, in a bounded and monitored process of its own."""

from __future__ import annotations

import hashlib
import mmap
import os
import random
import resource
import signal
import struct
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from bench.robustness.fuzz.mutate import Mutator

LONGEST_SECONDS = 10.0
"""Most processor time for one input."""

MOST_MEMORY = 1 << 30
"""Most bytes that inputs may add to the process's address space."""

_STUCK_SECONDS = 30.0  # of processor time for one input, in a library that can't be interrupted
_WAITING_SECONDS = 120.0  # that an input sleeps: it waits for something that never comes
_HEAD = struct.Struct("<QQQQ")  # inputs done, bytes of this one, peak of memory, findings
_SHARED = 1 << 22


@dataclass(frozen=True)
class Target:
    """A target of fuzzing.

    `seeds` are good inputs, `mutators` damage them, `run` reads one and returns, or raises one of
    `refused`; any other exception is a finding. `ending` is the suffix of its files.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    mutators: Sequence[Mutator]
    run: Callable[[bytes], None]
    refused: tuple[type[BaseException], ...]
    ending: str = ""


@dataclass
class Result:
    """The outcome of a target: findings by description, with a file that repeats each."""

    executions: int = 0
    seconds: float = 0.0
    peak_bytes: int = 0
    findings: dict[str, Path] = field(default_factory=dict)


class TooSlowError(BaseException):
    """An input took too long; no `except Exception` may swallow this."""


def fuzz(target: Target, seed: int, seconds: float, folder: Path) -> Result:
    """Run a target for some seconds of processor time; findings are files in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    result = Result()
    shared = mmap.mmap(-1, _SHARED)
    try:
        for attempt in range(1000):
            if result.seconds >= seconds:
                break
            left = seconds - result.seconds
            _attempt(target, f"{seed}-{attempt}", left, folder, shared, result)
    finally:
        shared.close()
    for file in folder.glob("*.txt"):
        result.findings[file.read_text().split("\n", 1)[0]] = file.with_suffix(".input")
    return result


def _attempt(  # noqa: PLR0913, PLR0917  (the parts of a run meet here)
    target: Target, seed: str, seconds: float, folder: Path, shared: mmap.mmap, result: Result
) -> None:
    """Run a process until its time is over or it dies, and add its work to `result`."""
    shared[: _HEAD.size] = _HEAD.pack(0, 0, 0, 0)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _work(target, random.Random(seed), seconds, folder, shared)  # noqa: S311
            status = 0
        except BaseException:  # noqa: BLE001  (a child must not continue as its parent)
            traceback.print_exc()
        finally:
            os._exit(status)
    before = _children_seconds()
    status = _watched(child, shared)
    result.seconds += max(_children_seconds() - before, 0.01)
    done, size, peak, _ = _HEAD.unpack_from(shared)
    result.executions += done
    result.peak_bytes = max(result.peak_bytes, peak)
    if status != 0:
        data = bytes(shared[_HEAD.size : _HEAD.size + size])
        _keep(folder, target, data, f"the process ended with status {status}", "")


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _watched(child: int, shared: mmap.mmap) -> int:
    """Wait for a process; end it if an input takes far too long."""
    last, used, ready = (-1, 0), 0.0, time.monotonic()
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
        now, (state, seconds) = _HEAD.unpack_from(shared)[:2], _state(child)
        if now != last:
            last, used = now, seconds
        if now != last or state == "R":
            ready = time.monotonic()
        if seconds - used > _STUCK_SECONDS or time.monotonic() - ready > _WAITING_SECONDS:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.05)


def _state(child: int) -> tuple[str, float]:
    """Return whether a process runs (R) or sleeps, and its seconds of processor time."""
    stat = Path(f"/proc/{child}/stat").read_text(encoding="ascii", errors="replace")
    words = stat.rpartition(")")[2].split()
    ticks = int(words[11]) + int(words[12])
    return words[0], ticks / os.sysconf("SC_CLK_TCK")


def _work(
    target: Target, generator: random.Random, seconds: float, folder: Path, shared: mmap.mmap
) -> None:
    seeds = list(target.seeds())
    _bound_memory()
    end = time.process_time() + seconds
    done = findings = 0
    known: set[str] = set()
    while time.process_time() < end:
        data = seeds[done] if done < len(seeds) else _mutated(generator, seeds, target.mutators)
        shared[_HEAD.size : _HEAD.size + len(data)] = data
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        shared[: _HEAD.size] = _HEAD.pack(done, len(data), peak, findings)
        what = tried(target, data)
        done += 1
        if what is not None and what[0] not in known:
            known.add(what[0])
            findings += 1
            _keep(folder, target, data, *what)
    shared[: _HEAD.size] = _HEAD.pack(done, 0, peak, findings)


def _mutated(
    generator: random.Random, seeds: Sequence[bytes], mutators: Sequence[Mutator]
) -> bytes:
    data = generator.choice(seeds)
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        data = generator.choice(mutators)(generator, data)
    return data[: _SHARED - _HEAD.size]


def tried(target: Target, data: bytes) -> tuple[str, str] | None:
    """Return what is wrong with the handling of an input, short and long; None: nothing."""
    try:
        with limited(LONGEST_SECONDS):
            target.run(data)
    except target.refused:
        return None
    except TooSlowError as error:
        return f"more than {LONGEST_SECONDS:g} s, {_where(error)}", traceback.format_exc()
    except Exception as error:  # noqa: BLE001  (any is a finding)
        return f"{type(error).__name__}, {_where(error)}", traceback.format_exc()
    return None


def _where(error: BaseException) -> str:
    """Return the last place in hardcost that an error passed."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if "/hardcost/" in one.filename] or list(frames)
    return f"{ours[-1].filename.rpartition('/hardcost/')[2]}:{ours[-1].name}" if ours else "nowhere"


def _keep(folder: Path, target: Target, data: bytes, what: str, details: str) -> None:
    """Write a finding to files: the input, and its outcome."""
    name = hashlib.sha256(what.encode()).hexdigest()[:12]
    file = folder / f"{name}.input"
    if not file.exists():
        file.write_bytes(data)
        repeat = f"python -m bench.robustness.fuzz --target {target.name} --input {file}"
        (folder / f"{name}.txt").write_text(
            f"{target.name}: {what}\nrepeat: {repeat}\n{details}", errors="replace"
        )


def _bound_memory() -> None:
    """Limit the address space to its current size and `MOST_MEMORY` more."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        size = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_MEMORY, resource.RLIM_INFINITY))


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise `TooSlowError` if the body takes more processor time."""

    def late(_number: int, _frame: FrameType | None) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
