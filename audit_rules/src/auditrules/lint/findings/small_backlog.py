"""Few records can wait for the audit daemon.

What: Rules record calls, but `-b` allows fewer than 8192 waiting records or is missing: the kernel
then allows 64. `-b 0` sets no limit.

Why: One recorded call makes several records (SYSCALL, CWD, a PATH for each file, PROCTITLE), so 64
records are a dozen calls. When the queue is full, the kernel makes callers wait, and then loses
records. The audit package's sample 10-base-config.rules sets 8192 ("make this bigger for busy
systems"), and the STIG for RHEL 9 asks for it at boot (audit_backlog_limit=8192).

Example:
    -b 320
    -w /etc/shadow -p wa -k identity

Remedy: Write `-b 8192` or more.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.location import Location

CODE = "small-backlog"
LEVEL = Level.WARNING

SMALLEST = 8192
"""Records; the audit package's own sample and DISA's STIG for RHEL 9 have it."""

_DEFAULT = 64  # kernel/audit.c: audit_backlog_limit


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield the last -b if it is small, or its absence if the lines are complete."""
    rules = len(context.recording)
    if not rules:
        return
    count = f"{rules} recording rules" if rules > 1 else "one recording rule"
    limits = [one for one in context.readings if one.backlog_limit is not None]
    if not limits:
        if context.options.whole:
            message = f"there is no -b: the kernel lets {_DEFAULT} records wait, with {count}"
            spot = Location(location_of(context.recording[0].source).file)
            yield Diagnostic(CODE, LEVEL, message, spot, remedy=f"add -b {SMALLEST}")
        return
    last = limits[-1]
    if last.backlog_limit and last.backlog_limit < SMALLEST:
        yield Diagnostic(
            CODE,
            LEVEL,
            f"{last.backlog_limit} records may wait, with {count}",
            last.place,
            last.text,
            f"write -b {SMALLEST} or more",
        )
