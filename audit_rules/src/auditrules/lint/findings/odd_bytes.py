"""Keys, paths or labels contain invisible characters.

What: A rule's key, path or label contains a tab or another control character, an unusual space, a
zero-width character, or bytes that are not UTF-8. There is one finding for each file. A carriage
return at the end of a line is reported as line-ends.

Why: auditctl and the kernel keep such bytes. A search for the key as it looks does not find its
records, and the path as it looks is not the one that is watched.

Example:
    -w /etc/shadow -p wa -k<TAB>identity

Remedy: Rewrite the words with visible characters, separated by spaces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.lint.wording import list_names
from auditrules.model.kernel_rule import FieldTest, KernelRule
from auditrules.model.rule import rule_keys

CODE = "odd-bytes"
LEVEL = Level.WARNING

_MOST_NAMED = 3


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield one diagnostic for each file with such rules."""
    by_file: dict[str, list[tuple[KernelRule, str]]] = {}
    for rule in context.rules:
        for word in _odd(rule):
            by_file.setdefault(location_of(rule.source).file, []).append((rule, word))
    for found in by_file.values():
        words = list_names(
            [_escape_invisible(word) for word in dict.fromkeys(w for _, w in found)], _MOST_NAMED
        )
        rules = list(dict.fromkeys(id(rule) for rule, _ in found))
        of_rule = {id(rule): rule for rule, _ in found}
        first, *others = (of_rule[one] for one in rules)
        yield Diagnostic(
            CODE,
            LEVEL,
            f"{words} {'contain' if len(found) > 1 else 'contains'} characters that are invisible"
            " or not UTF-8, which are loaded as they are",
            location_of(first.source),
            first.source.text if first.source else "",
            "rewrite it with visible characters",
            related=tuple(location_of(rule.source) for rule in others),
        )


def _odd(rule: KernelRule) -> Iterator[str]:
    """Yield the keys, paths and labels of a rule that contain such characters."""
    if rule.source is not None:
        yield from (f"the key {key}" for key in rule_keys(rule.source) if _is_odd(key))
    for test in rule.conditions:
        if isinstance(test, FieldTest) and isinstance(test.value, str) and _is_odd(test.value):
            yield f"the {'path' if test.value.startswith('/') else test.field} {test.value}"


def _is_odd(text: str) -> bool:
    return not text.removesuffix("\r").isprintable()


def _escape_invisible(text: str) -> str:
    r"""Return text with invisible characters escaped, and bytes that are not UTF-8 as `\xff`."""
    text = text.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )
