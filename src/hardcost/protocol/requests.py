"""Requests to the probe: a type for each.

The probe reads them one JSON object a line (`crates/probe/src/protocol/`). A job's JSON is part of
a trial's identity: a field that is added has to be left out where it says nothing new.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field

from hardcost.protocol.types import I32, U16, U32, U64, ClockName, Sent

USER = 1000
"""The ordinary user's id, and its login id, in every guest.

A machine that is there already may have hardcost's own user in its place.
"""

ROOT = 0
"""The id of the user as whom nothing is measured."""

_Seconds = int | float
_Paths = tuple[str, ...]


class _Request(Sent):
    """One request; its field `do` says which."""

    def as_json(self) -> dict[str, Any]:
        """Return it as the JSON object that is sent."""
        return self.model_dump(mode="json")


class Make(_Request):
    """Create directories (mode 0755) and empty files (0644) where they are missing."""

    do: Literal["make"] = "make"
    directories: _Paths = ()
    files: _Paths = ()


class Install(_Request):
    """Write a file, its parents made where they are missing."""

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"owner", "group"})

    do: Literal["install"] = "install"
    path: str
    mode: U32
    base64: str
    owner: str | None = None
    group: str | None = None


class Write(_Request):
    """Write a setting under /proc or /sys; without a value, the one that it has already."""

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"value"})

    do: Literal["write"] = "write"
    path: str
    value: str | None = None


class Audit(_Request):
    """Become the audit daemon and load the text of a rules file, as `auditctl -R` takes it."""

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"backlog_limit"})

    do: Literal["audit"] = "audit"
    rules: str
    backlog_limit: U32 | None = None


class CallPlan(Sent):
    """How to measure a call: `samples` windows of `batch` operations, after `warmup` others.

    Under the instruction counter they are at least `apart` milliseconds of guest time apart.
    """

    name: str
    batch: U32
    samples: U32
    warmup: U32
    apart: U32


class MeasureCalls(_Request):
    """Measure system calls, in this order, within `limit` seconds in all if it is given.

    So many `copies` of each make it at the same time, each on a processor of its own; one of them
    is measured. Of each call a processor counts the events named in `counters`.
    """

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"limit", "copies", "counters"})

    do: Literal["calls"] = "calls"
    clock: ClockName
    calls: tuple[CallPlan, ...]
    limit: _Seconds | None = None
    copies: U32 | None = None
    counters: tuple[str, ...] | None = None


class Counters(_Request):
    """Say whether the processor counts some events at once; the answer is `CountersAnswer`."""

    do: Literal["counters"] = "counters"
    names: tuple[str, ...]


class Command(_Request):
    """Measure a program from its start to its end, `runs` times.

    No further run begins once all together have taken `enough` of the clock's units. A run may take
    `limit` seconds.
    """

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset({"runs", "enough", "limit"})

    do: Literal["command"] = "command"
    clock: ClockName
    argv: tuple[str, ...]
    runs: U32 | None = None
    enough: U64 | None = None
    limit: _Seconds | None = None


class RunProgram(_Request):
    """Run a program to its end; `run` says what the fields mean."""

    do: Literal["run"] = "run"
    name: str
    argv: tuple[str, ...]
    clock: ClockName | None
    user: str
    login: U32 | None
    context: str | None
    environment: dict[str, str]
    folder: str
    stdin: str
    expect: I32 | None
    limit: _Seconds


class Ready(Sent):
    """How to find out that a service answers: exactly one of `tcp`, `unix`, `file` and `run`.

    Connect to a port of 127.0.0.1 or a socket, `send` a text or nothing, and read until the one to
    `expect` comes; a file that has to be there, and may have to contain a text; or a program that
    has to end with 0.
    """

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(
        {"tcp", "unix", "file", "run", "send", "expect", "contains"}
    )

    tcp: U16 | None = None
    unix: str | None = None
    file: str | None = None
    run: tuple[str, ...] | None = None
    send: str | None = None
    expect: str | None = None
    contains: str | None = None


class StartService(_Request):
    """Start a service and wait until it answers; `start` says what the fields mean."""

    do: Literal["start"] = "start"
    name: str
    argv: tuple[str, ...]
    ready: Ready
    user: str
    context: str | None
    environment: dict[str, str]
    folder: str
    logs: _Paths
    pid_file: str | None
    limit: _Seconds


class Stop(_Request):
    """Stop a service, by a program or else by a signal."""

    do: Literal["stop"] = "stop"
    name: str
    argv: tuple[str, ...]
    signal: I32
    limit: _Seconds


class Mount(_Request):
    """Mount a directory on itself with options."""

    do: Literal["mount"] = "mount"
    path: str
    options: tuple[str, ...]


class Read(_Request):
    """Report the end of a file."""

    do: Literal["read"] = "read"
    name: str
    path: str
    tail: U64


LogKind = Literal["audit", "denials", "messages"]
"""The entries counted in a log: of auditd, by a security module, of syslog."""


class CountLog(_Request):
    """Count what the log of a daemon holds."""

    do: Literal["count"] = "count"
    name: str
    of: LogKind
    path: str


class Await(_Request):
    """Wait until something is so, at most `limit` seconds."""

    do: Literal["await"] = "await"
    name: str
    until: Ready
    limit: _Seconds


class DropCaches(_Request):
    """Write back what is dirty, and drop page cache, names and inodes."""

    do: Literal["dropcaches"] = "dropcaches"


class Parallel(_Request):
    """Start the clock of several processors; the answer is `ParallelAnswer`.

    The turns of all processors share so many nanoseconds of the guest's clock (`turns`).
    """

    do: Literal["parallel"] = "parallel"
    turns: U32


class Perturb(_Request):
    """Change what means nothing, by a number: start, memory, random numbers, environments.

    It holds for the requests after it, until the next such one; 0 changes nothing.
    """

    do: Literal["perturb"] = "perturb"
    number: U32


What = Literal["cpu", "audit", "avc"]
"""The subjects of a watch: processes, the kernel's queue of audit records, SELinux's cache."""


class Watch(_Request):
    """Begin to watch; a row is taken every `period` nanoseconds of the guest's clock."""

    do: Literal["watch"] = "watch"
    what: tuple[What, ...]
    period: U64


class Unwatch(_Request):
    """End watching."""

    do: Literal["unwatch"] = "unwatch"


class SystemdUnit(_Request):
    """Have a unit of systemd run, with `files` (base64 by path) as its own, or have it stopped.

    The probe does not know it: the keeper of a machine that runs already does it.
    """

    do: Literal["unit"] = "unit"
    name: str
    active: bool
    files: dict[str, str]


_OfProbe = (
    Make
    | Install
    | Write
    | Audit
    | MeasureCalls
    | Counters
    | Command
    | RunProgram
    | StartService
    | Stop
    | Mount
    | Read
    | CountLog
    | Await
    | DropCaches
    | Parallel
    | Perturb
    | Watch
    | Unwatch
)

ProbeRequest = Annotated[_OfProbe, Field(discriminator="do")]
"""Any that a probe carries out."""

PROBE_REQUESTS = frozenset(str(one.model_fields["do"].default) for one in get_args(_OfProbe))
"""Their names."""

Request = Annotated[_OfProbe | SystemdUnit, Field(discriminator="do")]
"""Any of all."""
