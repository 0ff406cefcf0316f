"""A rule names calls but not their ABI.

What: The rule has -S with names or numbers but neither arch=b64 nor arch=b32. auditctl looks names
up in the 64-bit table; the kernel compares numbers, in both ABIs.

Why: In the 32-bit ABI, the same number is another call: that one is recorded, and the intended one
is not.

Example:
    -a always,exit -S open -F exit=-EACCES -k access

Remedy: Write two rules, with `-F arch=b64` and `-F arch=b32` before -S.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.field_tests import arches_of
from auditrules.lint import wording
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FilterList, bits
from auditrules.tables import lookup

CODE = "no-arch"
LEVEL = Level.WARNING

_SHOWN = 4


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule whose numbers mean different calls in the two ABIs."""
    for rule in context.rules:
        if rule.list is not FilterList.EXIT or wording.is_all(rule.mask):
            continue
        if len(arches_of(rule)) < len(lookup.ARCHES):
            continue  # it is about one ABI; `negated-arch` reports calls of the other
        other = [
            f"{lookup.call_name('b64', call)} ({call}) is {lookup.call_name('b32', call)} in b32"
            for call in bits(rule.mask)
            if call in lookup.call_names("b32")
            and lookup.call_name("b64", call) != lookup.call_name("b32", call)
        ]
        if not other:
            continue
        yield Diagnostic(
            CODE,
            LEVEL,
            f"it names calls without arch: {wording.list_names(other, _SHOWN)}",
            location_of(rule.source, column_of(rule.source, "-S")),
            rule.source.text if rule.source else "",
            "write it twice, with -F arch=b64 and with -F arch=b32 before -S",
        )
