"""A line can't be loaded.

What: auditctl or the kernel refuses the line: it names an architecture, list, field, call, operator
or value that does not exist, or combines things that do not go together. Lines that fail only
because of a carriage return at their end are reported as line-ends.

Why: auditctl stops at the first line that it can't load, so all lines below are missing too, unless
the files have it continue (-i, -c). Either way, what the line should record is not recorded, and
only a message at boot says so.

Example:
    -a always,exit -F arch=b33 -S execve -k exec

Remedy: Write what was meant. `ausyscall --dump` lists the calls of an architecture, auditctl(8) the
fields.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, of_fault
from auditrules.lint.findings.key_too_long import has_long_key

CODE = "cannot-load"
LEVEL = Level.ERROR


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each line that can't be loaded, and each file that can't be read."""
    elsewhere = {one.place for one in context.readings if has_long_key(one)}
    elsewhere |= context.failing_by_end
    for fault in context.faults:
        if fault.place.at(None) in elsewhere:
            continue
        yield of_fault(CODE, LEVEL, fault, context.texts, "see auditctl(8)")
