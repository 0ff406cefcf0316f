"""A rule's calls are recorded in one ABI but not in the other.

What: The rule tests arch=b64, and no rule does the same for b32, or the reverse. Calls are compared
by name; those that the other ABI lacks need no counterpart, and a rule with fewer or wider
conditions is enough. With --no-b32, no rule for b32 is required.

Why: A program that makes the call through the other ABI is not recorded. On x86_64, any 64-bit
program can make 32-bit calls, whether or not 32-bit programs are installed.

Example:
    -a always,exit -F arch=b64 -S mount -k export

Remedy: Add the same rule for the other ABI, or turn 32-bit entry off (a kernel without
IA32_EMULATION, or from Linux 6.7 on ia32_emulation=0). The second rule has a cost too: each 64-bit
call passes over it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from auditrules.lint import prices, wording
from auditrules.lint.context import Context, arch_of, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.lint.supersets import Numbered, by_arch, without_arch
from auditrules.tables.lookup import Arch

CODE = "twin-missing"
LEVEL = Level.WARNING

_OTHER: Mapping[Arch, Arch] = {"b64": "b32", "b32": "b64"}


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule whose calls are not recorded in the other ABI."""
    rest = [without_arch(rule) for rule in context.recording]
    twins = by_arch(context.recording, Numbered(rest))
    for index, rule in enumerate(context.recording):
        arch = arch_of(rule)
        if arch is None or (arch == "b64" and not context.options.b32):
            continue
        if not rest[index] and wording.is_all(rule.mask):
            continue  # to see any use of an ABI is a purpose of its own
        other = _OTHER[arch]
        missing = twins[other].missing_calls(index, wording.in_other(rule.mask, arch))
        if not missing:
            continue
        calls = "all calls" if wording.is_all(missing) else wording.calls_in_words(missing, other)
        yield Diagnostic(
            CODE,
            LEVEL,
            f"{other} is missing: no rule records {calls} there under these conditions",
            location_of(rule.source, column_of(rule.source, "arch=")),
            rule.source.text if rule.source else "",
            f"add the same rule with arch={other}",
            prices.the_twin(context, rule),
        )
