r"""Lines end in carriage returns.

What: The file has the line ends of other systems (CR LF). auditctl ends a line at LF only and reads
CR as part of the last word. There is one finding for each file, a warning if every line still
loads.

Why: A key becomes another key (`ausearch -k identity` does not find `identity\r`), a path becomes
another path that does not exist, and many lines can't be loaded at all. auditctl stops at the first
of these unless the files have it continue (-i, -c).

Example:
    -D<CR>
    -w /etc/shadow -p wa -k identity<CR>

Remedy: Save the file with Unix line ends, for example with `sed -i 's/\r$//' FILE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level
from auditrules.lint.wording import list_names
from auditrules.model.kernel_rule import FieldTest, KernelRule
from auditrules.model.location import Location
from auditrules.model.rule import Reading, RuleKind, rule_keys

CODE = "line-ends"
LEVEL = Level.ERROR

_PATHS = frozenset({"path", "dir", "exe"})
_MOST_NAMED = 3


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield one for each file in which lines other than comments end in carriage returns."""
    rules = {one.reading.place: one.rule for one in context.loaded.lines if one.rule is not None}
    by_file = sorted(context.readings, key=lambda one: (one.place.file, one.place.line))
    for _, readings in groupby(by_file, key=lambda one: one.place.file):
        every = list(readings)
        ended = [one for one in every if one.carriage_return]
        if any(one.kind is not RuleKind.COMMENT for one in ended):
            yield _diagnostic(context, rules, len(every), ended)


def _diagnostic(
    context: Context, rules: dict[Location, KernelRule], lines: int, ended: Sequence[Reading]
) -> Diagnostic:
    failing = [one for one in ended if one.place in context.failing_by_end]
    loaded = [(one, rules[one.place]) for one in ended if one.place in rules]
    keys = [(one, key) for one, rule in loaded for key in _keys(rule) if key.endswith("\r")]
    others = [(one, test) for one, rule in loaded for test in _tests(rule)]
    paths = [one for one in others if one[1].field in _PATHS]
    harm = [
        _count_words(
            len(failing), "line", "can't be loaded because of it", "can't be loaded because of it"
        ),
        _count_words(len(keys), "key", "ends in \\r", "end in \\r", [key for _, key in keys]),
        _count_words(
            len(paths), "path", "ends in \\r", "end in \\r", [str(t.value) for _, t in paths]
        ),
        _count_words(len(others) - len(paths), "other value", "ends in \\r", "end in \\r"),
    ]
    first = [*failing, *(one for one, _ in keys), *(one for one, _ in others), *ended][0]
    how_many = "every line ends" if len(ended) == lines else f"{len(ended)} of {lines} lines end"
    return Diagnostic(
        CODE,
        LEVEL if failing else Level.WARNING,
        f"{how_many} in a carriage return, which auditctl reads as part of the last word: "
        + (list_names([one for one in harm if one]) or "no key and no path ends in one"),
        first.place,
        first.text,
        r"save the file with Unix line ends: sed -i 's/\r$//' FILE",
        related=tuple(one.place for one in failing[1:]),
    )


def _keys(rule: KernelRule) -> tuple[str, ...]:
    return rule_keys(rule.source) if rule.source else ()


def _tests(rule: KernelRule) -> list[FieldTest]:
    """Return the tests of a text that ends in a carriage return."""
    return [
        test
        for test in rule.conditions
        if isinstance(test, FieldTest) and str(test.value).endswith("\r")
    ]


def _count_words(amount: int, what: str, does: str, do: str, names: Sequence[str] = ()) -> str:
    """Return such as `2 keys end in it ('a' and 'b')`, or nothing for none."""
    if not amount:
        return ""
    shown = list_names([repr(name) for name in dict.fromkeys(names)], _MOST_NAMED)
    said = f"{amount} {what} {does}" if amount == 1 else f"{amount} {what}s {do}"
    return f"{said} ({shown})" if shown else said
