r"""Quotes are part of a key, a path or a label.

What: auditctl has no quoting: quotes around a word, or around a part of it, belong to the word. A
single apostrophe inside a word is not reported.

Why: `ausearch -k identity` does not find the key `"identity"`, and a path with quotes is another
path, which does not exist.

Example:
    -w /etc/shadow -p wa -k "identity"

Remedy: Remove the quotes. Write a space within a word as `\ `.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.lint.wording import list_names
from auditrules.model.kernel_rule import FieldTest, KernelRule
from auditrules.model.rule import rule_keys, strip_quotes

CODE = "quotes"
LEVEL = Level.WARNING


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that loads quotes."""
    for rule in context.rules:
        found = list(_quoted_words(rule))
        if found:
            what = list_names([f"{kind} {text}" for kind, text in found])
            yield Diagnostic(
                CODE,
                LEVEL,
                f"the quotes are part of {what}: auditctl has no quoting",
                location_of(rule.source, column_of(rule.source, found[0][1])),
                rule.source.text if rule.source else "",
                "remove the quotes",
            )


def _quoted_words(rule: KernelRule) -> Iterator[tuple[str, str]]:
    """Yield the keys, paths and labels that contain quotes, each with its kind."""
    if rule.source is not None:
        yield from (("the key", key) for key in rule_keys(rule.source) if _has_quotes(key))
    for test in rule.conditions:
        if isinstance(test, FieldTest) and isinstance(test.value, str) and _has_quotes(test.value):
            what = "the path" if test.value.startswith("/") else f"the value of {test.field}"
            yield what, test.value


def _has_quotes(text: str) -> bool:
    """Say whether quotes are in pairs, or at an end."""
    bare = text.removesuffix("\r")
    return strip_quotes(bare) != bare or bare.strip("\"'") != bare
