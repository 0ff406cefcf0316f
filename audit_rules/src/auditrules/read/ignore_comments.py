"""Comments that leave diagnostics out: `# hardcost: ignore=CODE` on the line above a rule.

auditctl takes no comment behind a rule. Further comments may stand between; words behind the codes
are the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from auditrules.model.rule import Reading, RuleKind

OVER_LIMIT = "over-limit"
"""What accepts a rule's cost, for the gate; no diagnostic of lint has this code."""

_OURS = re.compile(r"#+ *hardcost:")
_IGNORES = re.compile(r"#+ *hardcost: *ignore=([a-z0-9-]+(?: *, *[a-z0-9-]+)*)(?= |$)")


def comment(codes: Iterable[str]) -> str:
    """Return the comment that leaves out diagnostics of these codes."""
    return f"# hardcost: ignore={','.join(codes)}"


def is_ours(text: str) -> bool:
    """Say whether a comment is meant for hardcost."""
    return _OURS.match(text) is not None


def codes_in(text: str) -> tuple[str, ...]:
    """Return the codes that a comment names; none if it is not understood."""
    found = _IGNORES.match(text)
    return () if found is None else tuple(code.strip() for code in found[1].split(","))


def attach_codes(readings: Iterable[Reading]) -> Iterator[Reading]:
    """Yield a file's readings, each with the codes that the comments right above it name."""
    codes: frozenset[str] = frozenset()
    for reading in readings:
        if reading.kind is RuleKind.COMMENT:
            codes |= frozenset(codes_in(reading.text))
            yield reading
        else:
            yield with_codes(reading, codes) if codes else reading
            codes = frozenset()


def with_codes(reading: Reading, codes: frozenset[str]) -> Reading:
    """Return a line's reading with the codes of which no diagnostic is wanted there."""
    rule = reading.rule and replace(reading.rule, ignores=codes)
    return replace(reading, rule=rule, ignores=codes)
