"""Facts of a real machine, as it reports them: its identity, processors and kernel."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardcost.errors import MachineError
from hardcost.machines.real.counters import counter_questions, read_counters
from hardcost.protocol.answers import Answer, ContentAnswer, CountersAnswer, all_of
from hardcost.protocol.requests import Read, Request

_PATHS = {
    "machine": "/etc/machine-id",
    "boot": "/proc/sys/kernel/random/boot_id",
    "release": "/proc/sys/kernel/osrelease",
    "version": "/proc/sys/kernel/version",
    "name": "/proc/sys/kernel/hostname",
    "line": "/proc/cmdline",
    "cpuinfo": "/proc/cpuinfo",
    "status": "/proc/self/status",
    "clock": "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    "governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "siblings": "/sys/devices/system/cpu/smt/active",
    "boost": "/sys/devices/system/cpu/cpufreq/boost",
    "modules": "/sys/kernel/security/lsm",
    "enforce": "/sys/fs/selinux/enforce",
    "paranoid": "/proc/sys/kernel/perf_event_paranoid",
}
_TAIL = 1 << 20
_LONGEST = 200  # characters of a fact that a reader is shown
_ALLOWED = re.compile(r"^Cpus_allowed_list:\s*([\d,-]+)$", re.MULTILINE)
_MODEL = re.compile(r"^model name\s*:\s*(.+)$", re.MULTILINE)
_HYPERVISOR = re.compile(r"^flags\s*:.*\bhypervisor\b", re.MULTILINE)
_DIGITS = 32


@dataclass(frozen=True)
class HostFacts:
    """A machine, by its own words: each is "" where it does not say.

    `machine` and `line` are hashes: of what names the machine among all others, and of the
    kernel's command line. `cpus` are the processors that we may use. `modules` are the security
    modules that the kernel runs, `enforce` is SELinux's mode (0 or 1). `counters` are the events
    that the processor counts for us, `uncounted` says why some are missing.
    """

    machine: str
    boot: str
    kernel: str
    name: str
    line: str
    model: str
    cpus: tuple[int, ...]
    clock: str
    governor: str
    virtual: bool
    siblings: bool
    boost: bool
    modules: tuple[str, ...] = ()
    enforce: str = ""
    counters: tuple[str, ...] = ()
    uncounted: str = ""

    @property
    def cpu(self) -> int | None:
        """The processor on which calls are measured: the last, since the first has most to do."""
        return self.cpus[-1] if self.cpus else None


def questions() -> tuple[Request, ...]:
    """Return the requests to a probe for the facts."""
    reads = (Read(name=name, path=path, tail=_TAIL) for name, path in _PATHS.items())
    return (*reads, *counter_questions())


def read(answers: Sequence[Answer]) -> HostFacts:
    """Return the facts in a probe's answers.

    Raises:
        MachineError: It does not say which kernel runs.
    """
    said = {one.name: one.text or "" for one in all_of(answers, ContentAnswer)}
    release, version = _fact(said, "release"), _fact(said, "version")
    if not release:
        raise MachineError("the machine does not say which kernel it runs: is /proc mounted?")
    model = _MODEL.search(said.get("cpuinfo", ""))
    allowed = _ALLOWED.search(said.get("status", ""))
    counters, uncounted = read_counters(
        all_of(answers, CountersAnswer), _fact(said, "paranoid"), virtual=_virtual(said)
    )
    return HostFacts(
        machine=_hash(said.get("machine", "").strip()),
        boot=_fact(said, "boot"),
        kernel=f"{release} {version}",
        name=_fact(said, "name"),
        line=_hash(said.get("line", "").strip()),
        model=_one_line(model[1]) if model else "",
        cpus=_cpus(allowed[1]) if allowed else (),
        clock=_fact(said, "clock"),
        governor=_fact(said, "governor"),
        virtual=_virtual(said),
        siblings=_fact(said, "siblings") == "1",
        boost=_fact(said, "boost") == "1",
        modules=tuple(_fact(said, "modules").split(",")),
        enforce=_fact(said, "enforce"),
        counters=counters,
        uncounted=uncounted,
    )


def _virtual(said: Mapping[str, str]) -> bool:
    return bool(_HYPERVISOR.search(said.get("cpuinfo", "")))


def _fact(said: Mapping[str, str], name: str) -> str:
    return _one_line(said.get(name, ""))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_LONGEST]


def _hash(text: str) -> str:
    """Return a hash that replaces a text which is confidential: machine-id(5) asks for that."""
    return hashlib.sha256(f"hardcost {text}".encode()).hexdigest()[:_DIGITS] if text else ""


def _cpus(text: str) -> tuple[int, ...]:
    """Return the numbers in a list such as `0-3,8`; at most as many as Linux knows processors."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if first.isdigit() and (last or first).isdigit() and len(first) < 6 and len(last) < 6:  # noqa: PLR2004  (digits)
            found += range(int(first), min(int(last or first), int(first) + 8191) + 1)
    return tuple(found)
