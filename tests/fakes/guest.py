"""A guest that is simulated: it answers a job as the probe would, with made-up counts.

The counts are the same for the same boot and job. Each call has a base; on top of it comes what is
on: so many instructions for each audit rule, for each boot parameter and sysctl in a table, and
more for a rule that fires. Two layouts of memory differ by some instructions, and two perturbations
by some more where processes, files or connections are made.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from auditrules.model.location import Location
from hardcost.errors import TrialError
from hardcost.model.call_tree import Frame
from hardcost.protocol.answers import (
    Answer,
    CallAnswer,
    ClockAnswer,
    CommandAnswer,
    RanAnswer,
    read_answer,
)
from hardcost.protocol.boot import Boot, BootAccount, WordVerdict
from hardcost.protocol.plugin.lines import FunctionLines
from hardcost.protocol.plugin.stacks import CountedWindow, Stacks
from hardcost.protocol.requests import MeasureCalls, Request
from tests.fakes import schedule

_Json = dict[str, Any]

_OVERHEAD = 50  # ticks of a window with nothing in it
_BASES = {"null": 200, "read": 400, "open": 1500, "stat": 900, "chmod": 1200, "exec": 400_000}
_OTHER_BASE = 1000
_RULE = 20  # instructions that a rule adds to every call
_FIRED = 2000  # and to the call that it records
_SWITCHED_ON = 100  # that audit itself adds
_WORDS = {"init_on_alloc=1": 300, "mitigations=off": -150, "slab_nomerge": 0}
_OPTIONS = {("INIT_ON_ALLOC_DEFAULT_ON", "y"): 300, ("SLUB_DEBUG_ON", "y"): 500}  # of a kernel
_SHIPPED = 90  # what a kernel that exists adds, by its name: so many instructions at most
_SETTINGS = {"kernel/randomize_va_space": 40, "vm/overcommit_memory": 10}
_TWICE = ("init_on_alloc=1", "init_on_free=1")  # what the two cost besides, where both are on
_TOGETHER = 70
_UNKNOWN = "nosuch"  # what words begin with that its kernel does not know
_LAYOUTS = 16
_MOVED = frozenset({"fork", "exec", "creat"})  # by a perturbation: so many instructions at most
_MOVES = 64
_USER = 1000
_FRAMES = (
    Frame(0, "process", "fake"),
    Frame(1, "user", "[unknown]"),
    Frame(2, "kernel", "fake_call"),
    Frame(3, "kernel", "fake_hardening"),
)
_COMMAND = 1_000_000  # instructions of a program


def account(boot: Boot) -> BootAccount:
    """Return what its kernel says of a boot line: words that begin with `nosuch` are unknown."""
    return BootAccount(
        tuple(
            WordVerdict(word, refused="the guest's kernel does not know it")
            for word in boot.parameters
            if word.startswith(_UNKNOWN)
        ),
        (("spectre_v2", "Mitigation: made up"),),
    )


def answers(boot: Boot, job: Sequence[Request]) -> list[Answer]:
    """Return the answers to a job, in the order of its requests.

    Raises:
        TrialError: There is a request that it does not know.
    """
    found: list[_Json] = [
        {"event": "hello", "protocol": 1, "probe": "fake", "kernel": "fake", "gap": None}
    ]
    state = _State(boot)
    for request in job:
        answer = _ANSWERS.get(request.do)
        if answer is None:
            raise TrialError(f"the fake guest does not know the request '{request.do}'")
        found += answer(state, request.as_json())
    return [read_answer(json.dumps(one).encode()) for one in found]


def lines(boot: Boot) -> FunctionLines:
    """Return the one line that each of its functions has, if a boot names one."""
    line = Location("fake.c", len(boot.lines))
    source = {line: f"    {boot.lines}(); /* all of it */"}
    return FunctionLines(boot.lines, line, source=source) if boot.lines else FunctionLines()


def stacks(job: Sequence[Request], found: Sequence[Answer]) -> Stacks:
    """Return what executed the answers to a job: a call's base by itself, what is on below it.

    Of a program that makes one call, it is noted which process runs when.
    """
    ran = [answer for answer in found if isinstance(answer, RanAnswer)]
    if ran:
        noted = [schedule.window(recorded=_is_recorded(answer)) for answer in ran]
        return Stacks(schedule.FRAMES, tuple(noted))
    before = {
        call.name: call.warmup
        for request in job
        if isinstance(request, MeasureCalls)
        for call in request.calls
    }
    counted: list[CountedWindow] = []
    for answer in found:
        if isinstance(answer, ClockAnswer):
            windows = [(ticks, 0) for ticks in answer.overhead]
        elif isinstance(answer, CallAnswer):
            base = _OVERHEAD + _BASES.get(answer.name, _OTHER_BASE) * answer.batch
            windows = [(answer.samples[0], base)] * before[answer.name]
            windows += [(ticks, base) for ticks in answer.samples]
        elif isinstance(answer, CommandAnswer):
            windows = [(answer.ticks, _COMMAND)]
        else:
            continue
        for ticks, base in windows:
            counted.append(_window(ticks, base))
    return Stacks(_FRAMES, tuple(counted))


def _is_recorded(answer: RanAnswer) -> bool:
    return answer.audit is not None and answer.audit.records > 0


def _window(ticks: int, base: int) -> CountedWindow:
    parts = (min(ticks, _OVERHEAD), max(min(ticks, base) - _OVERHEAD, 0))
    counts = (*parts, ticks - sum(parts))
    return CountedWindow(
        ticks, 0, tuple((place, one) for place, one in enumerate(counts, 2) if one)
    )


class _State:
    """What is on in the guest so far: rules by their text, settings by their path."""

    def __init__(self, boot: Boot) -> None:
        self.boot = boot
        self.rules: list[str] | None = None
        self.settings: dict[str, str] = {}
        self.perturbation = 0

    def added_to(self, call: str) -> int:
        """Return the instructions that what is on adds to a call."""
        words = self.boot.parameters
        added = sum(_WORDS.get(word, 0) for word in words)
        added += _TOGETHER if all(word in words for word in _TWICE) else 0
        options = self.boot.kernel.options if self.boot.kernel is not None else ()
        added += sum(_OPTIONS.get(option, 0) for option in options)
        if self.boot.shipped is not None:
            added += zlib.crc32(self.boot.shipped.encode()) % _SHIPPED
        on = (path for path, value in self.settings.items() if value != "0")
        added += sum(_SETTINGS.get(path, 0) for path in on)
        if self.rules is None or "audit=0" in words:
            return added
        added += _SWITCHED_ON + _RULE * len(self.rules)
        return added + _FIRED * sum(self.fired(call).values())

    def fired(self, call: str) -> dict[str, int]:
        """Return how often each key's rule records a call."""
        found: dict[str, int] = {}
        for rule in self.rules or ():
            words = rule.split()
            if "-S" in words and call in words[words.index("-S") + 1].split(","):
                key = words[words.index("-k") + 1] if "-k" in words else "(none)"
                found[key] = found.get(key, 0) + 1
        return found

    def moved(self, call: str) -> int:
        """Return the instructions that a perturbation adds to a call; they differ by what is on."""
        if not self.perturbation or call not in _MOVED:
            return 0
        seed = f"{self.perturbation} {call} {self.added_to(call)}"
        return zlib.crc32(seed.encode()) % _MOVES

    def layout(self) -> int:
        """Return the instructions that the memory's layout adds."""
        seed = self.boot.layout_seed
        return 0 if seed is None else zlib.crc32(f"{seed}".encode()) % _LAYOUTS


def _written(state: _State, request: Mapping[str, Any]) -> list[_Json]:
    path = request["path"]
    name = path.removeprefix("/proc/sys/")
    if _UNKNOWN in name:
        raise TrialError(f"the machine reports: {path}: No such file or directory (os error 2)")
    before = state.settings.get(name, "0")
    after = request.get("value", before)
    state.settings[name] = after
    return [{"event": "written", "path": path, "before": before, "after": after}]


def _audited(state: _State, request: Mapping[str, Any]) -> list[_Json]:
    kept: list[str] = []
    for line in request["rules"].splitlines():
        words = line.split()
        if words[:1] in (["-a"], ["-A"], ["-w"]):
            kept.append(line)
        elif words[:1] == ["-d"]:
            kept = [one for one in kept if one.split()[1:] != words[1:]]
    # As on a machine that runs already, where audit is disabled by its state.
    state.rules = None if "-e 0" in request["rules"].splitlines() else kept
    said = {"exit": 0, "stdout": "", "stderr": "", "loaded": len(kept)}
    return [{"event": "audit", **said}]


def _made(_state: _State, request: Mapping[str, Any]) -> list[_Json]:
    directories, files = request["directories"], request["files"]
    inodes = {path: number for number, path in enumerate((*directories, *files), 1)}
    made = {"directories": len(directories), "files": len(files), "inodes": inodes}
    return [{"event": "made", **made}]


def _measured(state: _State, request: Mapping[str, Any]) -> list[_Json]:
    clock = request["clock"]
    found: list[_Json] = [{"event": "clock", "clock": clock, "overhead": [_OVERHEAD]}]
    for call in request["calls"]:
        name = call["name"]
        each = _BASES.get(name, _OTHER_BASE) + state.added_to(name) + state.layout()
        each += state.moved(name)
        ticks = _OVERHEAD + each * call["batch"]
        is_on = state.rules is not None
        found.append(
            {
                "event": "call",
                "name": name,
                "clock": clock,
                "batch": call["batch"],
                "samples": [ticks] * call["samples"],
                "uid": _USER,
                "loginuid": _USER,
                "audit": _audit(state, name) if is_on else None,
                "output": "",
            }
        )
    return found


def _commanded(state: _State, request: Mapping[str, Any]) -> list[_Json]:
    ended = {
        "event": "command",
        "status": 0,
        "signal": None,
        "ticks": _COMMAND + state.added_to("exec") + state.layout() + state.moved("exec"),
        "user": 0,
        "system": 0,
        "stdout": "",
        "stdout_bytes": 0,
        "stderr": "",
        "stderr_bytes": 0,
        "audit": None if state.rules is None else _audit(state, "exec"),
        "interruptions": 0,
        "period": 0,
    }
    return [dict(ended) for _ in range(request.get("runs", 1))]


def _ran(state: _State, request: Mapping[str, Any]) -> list[_Json]:
    """Return that a program made one call, which its first argument names."""
    by_key = None if state.rules is None else _audit(state, request["argv"][1])
    recorded = by_key is not None and by_key["records"] > 0
    answer = {
        "event": "ran",
        "name": request["name"],
        "status": 0,
        "signal": None,
        "ticks": schedule.window(recorded=recorded).total,
        **dict.fromkeys(("user", "system", "stdout_bytes", "stderr_bytes"), 0),
        **dict.fromkeys(("stdout", "stderr"), ""),
        **dict.fromkeys(("begin", "end")),
        "audit": by_key,
    }
    return [answer]


def _installed(_state: _State, request: Mapping[str, Any]) -> list[_Json]:
    return [{"event": "installed", "path": request["path"], "bytes": 0}]


def _mounted(_state: _State, request: Mapping[str, Any]) -> list[_Json]:
    return [{"event": "mounted", "path": request["path"], "options": request["options"]}]


def _perturbed(state: _State, request: Mapping[str, Any]) -> list[_Json]:
    state.perturbation = request["number"]
    return [{"event": "perturbed", "number": state.perturbation}]


def _dropped(_state: _State, _request: Mapping[str, Any]) -> list[_Json]:
    return [{"event": "dropped"}]


def _audit(state: _State, call: str) -> dict[str, Any]:
    by_key = state.fired(call)
    return {"records": sum(by_key.values()), "lost": 0, "by_key": by_key}


_ANSWERS: Mapping[str, Callable[[_State, Mapping[str, Any]], list[_Json]]] = {
    "write": _written,
    "audit": _audited,
    "make": _made,
    "calls": _measured,
    "command": _commanded,
    "run": _ran,
    "install": _installed,
    "mount": _mounted,
    "dropcaches": _dropped,
    "perturb": _perturbed,
}
