"""Versions of Debian's packages, in their order (Debian's policy, section 5.6.12).

python-debian has the same order, and nothing else that hardcost needs.
"""

from __future__ import annotations

import re

_PIECES = re.compile(r"([^0-9]*)([0-9]*)")
# A tilde sorts before the end, the end before letters, and letters before all other signs.
_TILDE, _END, _SIGN = -2, -1, 256


def key(version: str) -> tuple[object, ...]:
    """Return a key that sorts as a version does."""
    epoch, _, rest = version.partition(":") if ":" in version else ("0", "", version)
    upstream, _, revision = rest.rpartition("-") if "-" in rest else (rest, "", "0")
    return int(epoch) if epoch.isdigit() else 0, _part(upstream), _part(revision)


def _part(text: str) -> tuple[tuple[tuple[int, ...], int], ...]:
    """Return pairs of what is no digit and the number after it; a tilde sorts before the end."""
    pairs = [
        ((*map(_order, signs), _END), int(digits or 0))
        for signs, digits in _PIECES.findall(text)
        if signs or digits
    ]
    return (*pairs, ((_END,), 0))


def _order(sign: str) -> int:
    if sign == "~":
        return _TILDE
    return ord(sign) if sign.isalpha() else ord(sign) + _SIGN
