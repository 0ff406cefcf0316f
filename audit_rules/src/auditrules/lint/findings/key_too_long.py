"""A key is longer than the kernel allows.

What: The rule's keys, with a separator between each two, have more than 256 bytes. Characters
outside ASCII take two to four bytes each.

Why: auditctl refuses the rule, and stops there unless -i or -c has it continue.

Example:
    -w /etc/shadow -p wa -k <257 letters>

Remedy: Shorten the key. Searches (`ausearch -k`) match parts of keys, so a short one is enough.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.auditctl.translate import LONGEST_KEY
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import KEY_SEPARATOR
from auditrules.model.rule import Reading, rule_keys

CODE = "key-too-long"
LEVEL = Level.ERROR


def has_long_key(reading: Reading) -> bool:
    """Say whether a line's rule has keys that are too long together."""
    # Looking at its words takes long, and a short line can't hold such a key.
    return (
        len(reading.text.encode(errors="surrogateescape")) > LONGEST_KEY
        and _key_bytes(reading) > LONGEST_KEY
    )


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule whose keys are too long together."""
    for reading in context.readings:
        if has_long_key(reading):
            column = column_of(reading.rule, "-k") or column_of(reading.rule, "key=")
            yield Diagnostic(
                CODE,
                LEVEL,
                f"the rule's keys have {_key_bytes(reading)} bytes; {LONGEST_KEY} are allowed",
                location_of(reading.rule, column),
                reading.text,
                "shorten the key",
            )


def _key_bytes(reading: Reading) -> int:
    if reading.rule is None:
        return 0
    return len(KEY_SEPARATOR.join(rule_keys(reading.rule)).encode(errors="surrogateescape"))
