"""A call's result is compared as a signed number, which it is not.

What: `exit` is tested with <, <=, > or >=, and for some result the kernel's comparison of unsigned
numbers comes out otherwise than one of signed numbers. Rules that test `success` too are not
reported.

Why: A call that fails returns a negative error number, which the kernel compares as a large
positive one: exit>0 also holds for every call that fails, and exit<0 never holds.

Example:
    -a always,exit -F arch=b64 -S openat -F exit>=0 -k opened

Remedy: Test -F success=1 or -F success=0, or one error with exit=-EACCES.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from auditrules.kernel.conditions import contradiction
from auditrules.lint import wording
from auditrules.lint.context import Context, column_of, fields_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FieldTest, Operator

CODE = "exit-unsigned"
LEVEL = Level.WARNING

_SIGN = 1 << 31  # the kernel compares 32 bits without a sign
_ERRORS, _RESULTS = (-4095, -1), (0, _SIGN - 1)
"""The first and last number that a call returns where it fails, and where it succeeds."""

_ORDERED: Mapping[Operator, Callable[[int, int], bool]] = MappingProxyType({
    Operator.LESS: operator.lt,
    Operator.LESS_OR_EQUAL: operator.le,
    Operator.GREATER: operator.gt,
    Operator.GREATER_OR_EQUAL: operator.ge,
})  # fmt: skip

_COMPARED: Mapping[Operator, Callable[[int, int], bool]] = MappingProxyType({
    **_ORDERED,
    Operator.EQUAL: operator.eq,
    Operator.NOT_EQUAL: operator.ne,
})  # fmt: skip
"""Those with bits aside, which only other fields take (`check_operator`)."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule whose comparison of results means something else than it looks like."""
    for rule in context.rules:
        fields = fields_of(rule)
        if "exit" not in fields or "success" in fields or contradiction(rule.conditions):
            continue
        tests = rule.tests("exit")
        difference = _difference(tests) if any(one.operator in _ORDERED for one in tests) else ""
        if difference:
            said = wording.list_names([wording.condition_words(one) for one in tests])
            yield Diagnostic(
                CODE,
                LEVEL,
                f"results are compared as unsigned numbers: {said} {difference}",
                location_of(rule.source, column_of(rule.source, "exit")),
                rule.source.text if rule.source else "",
                "test success=1 or success=0, or one error with exit=-EACCES",
            )


def _difference(tests: Sequence[FieldTest]) -> str:
    """Return for which results the kernel's comparison and a signed one differ, if for any."""
    edges = {_as_signed(int(one.value)) + step for one in tests for step in (-1, 0, 1)}
    for (first, last), which in ((_ERRORS, "fail"), (_RESULTS, "succeed")):
        for result in sorted({first, last, *(one for one in edges if first <= one <= last)}):
            held = all(
                _COMPARED[one.operator](result % (2 * _SIGN), int(one.value)) for one in tests
            )
            looks = all(
                _COMPARED[one.operator](result, _as_signed(int(one.value))) for one in tests
            )
            if held is not looks:
                return f"{'holds also' if held else 'does not hold'} for calls that {which}"
    return ""


def _as_signed(number: int) -> int:
    return number - 2 * _SIGN if number >= _SIGN else number
