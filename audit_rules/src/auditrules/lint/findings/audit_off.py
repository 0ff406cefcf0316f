"""A rule switches off auditing of system calls for new tasks.

What: `never,task` without conditions: the kernel no longer audits the system calls of any task
created from then on.

Why: No rule on calls or files fires for such tasks, which soon are nearly all tasks. This is the
cheapest state there is, but it is hardly intended where other rules are loaded too.

Example:
    -a never,task
    -w /etc/shadow -p wa -k identity

Remedy: Delete the line if rules should record calls; otherwise delete the rules.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import Action, FilterList

CODE = "audit-off"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield the rule that switches auditing off where others want to record calls."""
    tasks = [rule for rule in context.by_rank if rule.list is FilterList.TASK]
    if not tasks or not context.recording:
        return
    first = tasks[0]
    if first.action is Action.NEVER and not first.conditions:
        count = len(context.recording)
        what = f"{count} rules never fire" if count > 1 else "one rule never fires"
        yield Diagnostic(
            CODE,
            LEVEL,
            f"it switches auditing off for all new tasks: {what} for them",
            location_of(first.source),
            first.source.text if first.source else "",
            "delete this line, or the rules that record calls",
            related=tuple(location_of(rule.source) for rule in context.recording),
        )
