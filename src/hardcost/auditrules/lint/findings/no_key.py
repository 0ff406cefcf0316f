"""A rule has no key.

What: The rule records calls and gives them no key (-k, or -F key=).

Why: Nothing in a record says which rule made it but the key. Without one, `ausearch -k` and
`aureport --key` can't find what the rule was for, and nobody can tell which rule floods a log.

Example:
    -w /etc/shadow -p wa

Remedy: Add `-k` and a word for what the rule is for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, spot_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.lint.context import Context

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
                spot_of(rule.source),
                rule.source.text if rule.source else "",
                "add -k and a word for what the rule is for",
            )
