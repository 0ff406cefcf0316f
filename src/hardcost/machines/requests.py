"""Requests to the probe that drive programs and services, as values.

Each function returns one request of the probe protocol (ARCHITECTURE.md describes them), so that
workloads and controls word their jobs alike.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.machines.machine import Request

USER = 1000
"""The ordinary user's id, and its login id, in every guest."""


def install(
    path: str, content: str | bytes, mode: int = 0o644, owner: str = "root", group: str = "root"
) -> Request:
    """Return the request to write a file, its parents made where they are missing."""
    raw = content.encode() if isinstance(content, str) else content
    request: Request = {
        "do": "install",
        "path": path,
        "mode": mode,
        "base64": base64.b64encode(raw).decode(),
    }
    if (owner, group) != ("root", "root"):
        request |= {"owner": owner, "group": group}
    return request


def run(  # noqa: PLR0913  (each is a property of a process)
    name: str,
    argv: Sequence[str],
    *,
    clock: Literal["tsc", "monotonic"] | None = None,
    user: str = "root",
    login: int | None = None,
    context: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str = "/",
    stdin: str = "",
    expect: int | None = 0,
    limit_seconds: float = 60,
) -> Request:
    """Return the request to run a program to its end; the answer is `ran`.

    With a `clock` it is measured. `user` is a name of the guest's /etc/passwd, whose groups it
    gets; `login` a login id for audit; `context` an SELinux context, set where SELinux is on.
    Another exit status than `expect` fails the job (None: any will do), as does a program that
    takes more than `limit_seconds` of the guest's time.
    """
    return {
        "do": "run",
        "name": name,
        "argv": list(argv),
        "clock": clock,
        "user": user,
        "login": login,
        "context": context,
        "environment": dict(environment or {}),
        "folder": folder,
        "stdin": stdin,
        "expect": expect,
        "limit": limit_seconds,
    }


def start(  # noqa: PLR0913  (each is a property of a service)
    name: str,
    argv: Sequence[str],
    *,
    ready: Mapping[str, Any],
    user: str = "root",
    context: str | None = None,
    environment: Mapping[str, str] | None = None,
    folder: str = "/",
    logs: Sequence[str] = (),
    pid_file: str | None = None,
    limit_seconds: float = 60,
) -> Request:
    """Return the request to start a service and wait until it answers; the answer is `started`.

    `ready` says how to tell, one of `{"tcp": PORT, "send": TEXT, "expect": TEXT}` (connect to
    127.0.0.1, say something or nothing, read until the text comes), `{"unix": PATH, "send": …,
    "expect": …}`, `{"file": PATH, "contains": TEXT}`, `{"run": ARGV}` (until it ends with 0). It is
    tried over and over until `limit_seconds` of the guest's time have passed; then, and where the
    service ends before, the job fails with the reason and the end of each of `logs`; what the
    service prints goes to `/run/hardcost/NAME.log`, which is always among them.

    A service stays in the foreground, or writes the number of its process to `pid_file`. From then
    on the probe looks before and after each request whether it lives: one that died fails the job.
    """
    return {
        "do": "start",
        "name": name,
        "argv": list(argv),
        "ready": dict(ready),
        "user": user,
        "context": context,
        "environment": dict(environment or {}),
        "folder": folder,
        "logs": list(logs),
        "pid_file": pid_file,
        "limit": limit_seconds,
    }


def stop(
    name: str, *, argv: Sequence[str] = (), signal: int = 15, limit_seconds: float = 30
) -> Request:
    """Return the request to stop a service, by a program `argv` or else by `signal`.

    The answer is `stopped`: how it ended, whether it had to be killed, and the end of each log.
    """
    return {
        "do": "stop",
        "name": name,
        "argv": list(argv),
        "signal": signal,
        "limit": limit_seconds,
    }


def mount(path: str, options: Sequence[str]) -> Request:
    """Return the request to mount a directory on itself with `options`, such as `noexec`.

    The answer is `mounted`, with the options that the kernel then shows.
    """
    return {"do": "mount", "path": path, "options": list(options)}


def read(name: str, path: str, tail: int = 4096) -> Request:
    """Return the request for the last `tail` bytes of a file; the answer is `content`.

    A file that is not there is answered with `text` null.
    """
    return {"do": "read", "name": name, "path": path, "tail": tail}


def drop_caches() -> Request:
    """Return the request to write back what is dirty and drop page cache, names and inodes."""
    return {"do": "dropcaches"}


def watch(what: Sequence[str], period_ns: int = 10_000_000) -> Request:
    """Return the request to begin watching, for the instruments that ride along.

    `what` is some of `cpu`, `audit`, `avc`; a row of each is taken every `period_ns` of the guest's
    clock, until `unwatch`.
    """
    return {"do": "watch", "what": list(what), "period": period_ns}


def unwatch() -> Request:
    """Return the request to end watching; the answer is `watched`, with all that was seen."""
    return {"do": "unwatch"}
