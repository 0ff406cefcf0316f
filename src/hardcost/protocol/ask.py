"""Functions that make requests to the probe, with defaults and the types of answers."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence

from hardcost.protocol.requests import (
    Await,
    CountLog,
    Install,
    LogKind,
    Make,
    Mount,
    Read,
    Ready,
    RunProgram,
    StartService,
    Stop,
    SystemdUnit,
    Watch,
    What,
)
from hardcost.protocol.types import ClockName


def make(directories: Sequence[str] = (), files: Sequence[str] = ()) -> Make:
    """Return the request to create missing paths; the answer is `MadeAnswer`."""
    return Make(directories=tuple(directories), files=tuple(files))


def install(
    path: str, content: str | bytes, mode: int = 0o644, owner: str = "root", group: str = "root"
) -> Install:
    """Return the request to write a file."""
    raw = content.encode() if isinstance(content, str) else content
    text = base64.b64encode(raw).decode()
    if (owner, group) == ("root", "root"):
        return Install(path=path, mode=mode, base64=text)
    return Install(path=path, mode=mode, base64=text, owner=owner, group=group)


def run(  # noqa: PLR0913  (each is a property of a process)
    name: str,
    argv: Sequence[str],
    *,
    clock: ClockName | None = None,
    user: str = "root",
    login: int | None = None,
    context: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str = "/",
    stdin: str = "",
    expect: int | None = 0,
    limit_seconds: float = 60,
) -> RunProgram:
    """Return the request to run a program to its end; the answer is `RanAnswer`.

    With a `clock` it is measured. `user` is a name of the guest's /etc/passwd, whose groups it
    gets; `login` a login id for audit; `context` an SELinux context, set where SELinux is on.
    Another exit status than `expect` fails the job (None: any will do), as does a program that
    takes more than `limit_seconds` of the guest's time.
    """
    return RunProgram(
        name=name,
        argv=tuple(argv),
        clock=clock,
        user=user,
        login=login,
        context=context,
        environment=dict(environment or {}),
        folder=folder,
        stdin=stdin,
        expect=expect,
        limit=limit_seconds,
    )


def start(  # noqa: PLR0913  (each is a property of a service)
    name: str,
    argv: Sequence[str],
    *,
    ready: Ready,
    user: str = "root",
    context: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str = "/",
    logs: Sequence[str] = (),
    pid_file: str | None = None,
    limit_seconds: float = 60,
) -> StartService:
    """Return the request to start a service and wait until it answers: with `StartedAnswer`.

    `ready` is tried over and over until `limit_seconds` of the guest's time have passed; then, and
    where the service ends before, the job fails with the reason and the end of each of `logs`; what
    the service prints goes to `/run/hardcost/NAME.log`, which is always among them.

    A service stays in the foreground, or writes the number of its process to `pid_file`. From then
    on the probe looks before and after each request whether it lives: one that died fails the job.
    """
    return StartService(
        name=name,
        argv=tuple(argv),
        ready=ready,
        user=user,
        context=context,
        environment=dict(environment or {}),
        folder=folder,
        logs=tuple(logs),
        pid_file=pid_file,
        limit=limit_seconds,
    )


def stop(
    name: str, *, argv: Sequence[str] = (), signal: int = 15, limit_seconds: float = 30
) -> Stop:
    """Return the request to stop a service, by a program `argv` or else by `signal`.

    `StoppedAnswer` says how it ended, whether it had to be killed, and the end of each log.
    """
    return Stop(name=name, argv=tuple(argv), signal=signal, limit=limit_seconds)


def mount(path: str, options: Sequence[str]) -> Mount:
    """Return the request to mount a directory on itself with `options`, such as `noexec`.

    `MountedAnswer` has the options that the kernel then shows.
    """
    return Mount(path=path, options=tuple(options))


def unit(name: str, *, running: bool, files: Mapping[str, str]) -> SystemdUnit:
    """Return the request for a unit that runs, with texts as `files`, or is stopped."""
    coded = {path: base64.b64encode(text.encode()).decode() for path, text in files.items()}
    return SystemdUnit(name=name, active=running, files=coded)


def read(name: str, path: str, tail: int = 4096) -> Read:
    """Return the request for the last `tail` bytes of a file; the answer is `ContentAnswer`."""
    return Read(name=name, path=path, tail=tail)


def count(name: str, of: LogKind, path: str) -> CountLog:
    """Return the request to count the lines of the log at `path` and its older files.

    `CountedAnswer` has it. Of auditd's log, `audit` counts records, and the events of each key
    between the messages `hardcost-begin` and `hardcost-end`; `denials` counts a security module's,
    in the kernel's log too. `messages` counts the audit records in a log of syslog.
    """
    return CountLog(name=name, of=of, path=path)


def until(name: str, ready: Ready, limit_seconds: float = 60) -> Await:
    """Return the request to wait until `ready` is so; the answer is `AwaitedAnswer`.

    The job fails where that takes more than `limit_seconds` of the guest's time.
    """
    return Await(name=name, until=ready, limit=limit_seconds)


def watch(what: Sequence[What], period_ns: int = 10_000_000) -> Watch:
    """Return the request to begin watching; a row is taken every `period_ns` until `Unwatch`."""
    return Watch(what=tuple(what), period=period_ns)
