"""A path contains a wildcard.

What: `path`, `dir`, `exe` or -w names a path with * or ?. With --root, a file of that very name is
not reported.

Why: Neither auditctl nor the kernel expands wildcards: the rule watches a file with an asterisk in
its name. auditctl only warns.

Example:
    -w /home/*/.ssh/authorized_keys -p wa -k ssh

Remedy: Watch the directory above with `dir`, or write a rule for each file.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FieldTest

CODE = "wildcard-path"
LEVEL = Level.WARNING

_WILD = frozenset("*?")
_PATHS = frozenset({"path", "dir", "exe"})


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each path with a wildcard."""
    root = context.options.root
    for rule in context.rules:
        for one in rule.conditions:
            if not isinstance(one, FieldTest) or one.field not in _PATHS:
                continue
            path = str(one.value)
            if _WILD.isdisjoint(path) or (root is not None and not root.lacks(path)):
                continue
            column = column_of(rule.source, f"{one.field}{one.operator}")
            yield Diagnostic(
                CODE,
                LEVEL,
                f"{path} is taken literally: wildcards are not expanded",
                location_of(rule.source, column or column_of(rule.source, "/")),
                rule.source.text if rule.source else "",
                "watch the directory above with dir=, or write a rule for each file",
            )
