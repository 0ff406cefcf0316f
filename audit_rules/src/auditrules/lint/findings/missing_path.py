"""A rule names a path that does not exist.

What: Only --root enables this check: it names a folder that stands for the machine's `/`. Links are
followed as on the machine itself, and never out of the folder.

Why: While a file or its folder is missing, nothing is watched. A watch waits for the file to be
created as long as its folder exists. If the folder is missing too, or the rule uses `dir`, the
kernel refuses the rule, and auditctl stops there unless -i or -c has it continue.

Example:
    -w /etc/paswd -p wa -k identity

Remedy: Correct the path, or remove the rule on machines that have no such file.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.load.preflight import MissingPath, missing_paths
from auditrules.model.kernel_rule import Operator

CODE = "missing-path"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that names a path that does not exist."""
    root = context.options.root
    if root is None:
        return
    for missing in missing_paths(context.rules, root):
        yield _diagnostic(missing)


def _diagnostic(missing: MissingPath) -> Diagnostic:
    rule, test, refused = missing.rule, missing.test, missing.refused
    path = str(test.value)
    column = column_of(rule.source, f"{test.field}{test.operator}") or column_of(rule.source, "/")
    if refused is not None:
        message = f"the kernel refuses it: {refused} does not exist"
    elif test.field == "exe":
        which = "no program" if test.operator is Operator.EQUAL else "every program"
        message = f"{path} does not exist: {which} matches until it does"
    else:
        message = f"{path} does not exist: nothing is recorded until it does"
    return Diagnostic(
        CODE,
        Level.ERROR if refused is not None else LEVEL,
        message,
        location_of(rule.source, column),
        rule.source.text if rule.source else "",
        "correct the path, or remove the rule on such machines",
    )
