"""A rule compares a call's result with a positive error number.

What: `exit` is compared with the name of an error without a minus sign, such as exit=EPERM. A call
that fails returns the negative number.

Why: exit=EPERM compares with +1. It never fires on a call that fails, only on one that succeeds and
returns 1. exit!=EPERM also holds for calls that fail with EPERM.

Example:
    -a always,exit -F arch=b64 -S openat -F exit=EPERM -k access

Remedy: Write the minus sign: exit=-EPERM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from auditrules.auditctl.field_values import fold_case, split_field
from auditrules.lint.context import Context, column_of, fields_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import KernelRule, Operator
from auditrules.model.rule import split_options, split_words
from auditrules.tables import lookup

CODE = "positive-errno"
LEVEL = Level.WARNING

_EQUALITY = frozenset({Operator.EQUAL, Operator.NOT_EQUAL})


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each comparison with a positive error."""
    for rule in context.rules:
        for name, operator in _positive(rule):
            number = lookup.errors()[fold_case(name).upper()]
            written = f"exit{operator}{name}"
            said = f"{written} compares with +{number}, but a call that fails with {name} returns"
            if operator is Operator.EQUAL:
                fires = f"it can only fire on a call that succeeds and returns {number}"
            else:
                fires = "it does not test whether the call failed with that error"
            better = f"exit{operator if operator in _EQUALITY else '='}-{name}"
            yield Diagnostic(
                CODE,
                LEVEL,
                f"{said} -{number}: {fires}",
                location_of(rule.source, column_of(rule.source, "exit")),
                rule.source.text if rule.source else "",
                f"write {better}",
            )


def _positive(rule: KernelRule) -> Iterator[tuple[str, Operator]]:
    """Yield the errors that a rule names without a minus; the kernel holds numbers alone."""
    if rule.source is None or "exit" not in fields_of(rule):
        return
    for option, value in split_options(split_words(rule.source.text))[0]:
        if option != "-F":
            continue
        field, operator, text = split_field(value)
        if fold_case(field) == "exit" and fold_case(text).upper() in lookup.errors():
            yield text, operator
