"""Whether a word is an audit rule; nothing is imported here, so that the command line may ask."""

from __future__ import annotations

import re

_RULE = re.compile(r"\s*-[A-Za-z]\s+\S")


def is_rule(text: str) -> bool:
    """Say whether an argument is a line of audit rules: `-w /etc/passwd -p wa`."""
    return _RULE.match(text) is not None
