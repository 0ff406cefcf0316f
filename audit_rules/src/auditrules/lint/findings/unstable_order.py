"""Two rules watch one path, and which one decides can change.

What: Two rules watch the same path, can match the same call, and differ in action or key.

Why: Usually the first one decides. When the file is replaced, as editors and passwd do, the kernel
moves the rules to the new file and reverses their order. The other one then decides, until the file
is replaced again.

Example:
    -w /etc/shadow -p wa -k identity
    -w /etc/shadow -p rwa -k access

Remedy: Merge the two rules, or make them ask for different permissions, users or results.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.kernel.conditions import contradiction
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FilterList, KernelRule

CODE = "unstable-order"
LEVEL = Level.WARNING

_MOST_COMPARED = 16
"""Rules on one path before a rule that it is compared with: far more than anybody writes."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that competes with an earlier one on the same path."""
    on_path: dict[str, list[KernelRule]] = {}
    for rule in context.rules:
        if rule.list is not FilterList.EXIT or rule.path is None:
            continue
        others = on_path.setdefault(rule.path, [])
        rivals = [other for other in others[-_MOST_COMPARED:] if _rivals(rule, other)]
        others.append(rule)
        if rivals:
            spots = tuple(location_of(one.source) for one in rivals)
            differ = "action" if any(one.action is not rule.action for one in rivals) else "key"
            column = column_of(rule.source, "path=") or column_of(rule.source, "/")
            yield Diagnostic(
                CODE,
                LEVEL,
                f"{spots[0]} also watches {rule.path}, with another {differ}: which one decides "
                "changes when the file is replaced",
                location_of(rule.source, column),
                rule.source.text if rule.source else "",
                "merge them, or make them ask for different permissions or users",
                related=spots,
            )


def _rivals(rule: KernelRule, other: KernelRule) -> bool:
    """Say whether both may match one call with different results."""
    if (rule.action, rule.key) == (other.action, other.key) or not rule.mask & other.mask:
        return False
    return not contradiction((*rule.conditions, *other.conditions), one_file=True)
