"""A rule has no key.

What: The rule records calls but gives the records no key (-k, or -F key=).

Why: Only the key identifies the rule that made a record. Without one, `ausearch -k` and `aureport
--key` can't select the rule's records, and nothing shows which rule floods a log.

Example:
    -w /etc/shadow -p wa

Remedy: Add `-k` with a word for the rule's purpose.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, location_of

CODE = "no-key"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that records without a key."""
    for rule in context.recording:
        if not rule.key:
            yield Diagnostic(
                CODE,
                LEVEL,
                "its records have no key",
                location_of(rule.source),
                rule.source.text if rule.source else "",
                "add -k with a word for the rule's purpose",
            )
