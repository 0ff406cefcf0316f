"""Numbers and names for a reader: escaped, rounded, thousands separated.

All functions return text that may contain the few symbols of `_SYMBOLS`; `plain` replaces them with
ASCII for a pipe or a terminal without Unicode.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal

MISSING = "n/a"
"""Shown for a number that is infinite or not a number."""

ABSENT = "-"
"""Shown where nothing was measured."""

TIMES = "\N{MULTIPLICATION SIGN}"
TO = "\N{EN DASH}"
ABOUT = "\N{ALMOST EQUAL TO}"
MARK = "\N{DAGGER}"
"""Marks a number that doesn't show the whole cost; a sentence below explains it."""

_SYMBOLS = str.maketrans({TIMES: "x", TO: "..", MARK: "(+)", ABOUT: "~", "±": "+/-", "…": "..."})
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")

_WHOLE = 1e-9
"""Values this close to a whole number are whole: far below one instruction, far above rounding."""

_SIGNIFICANT = 4
_ONE_DECIMAL_BELOW = 1e6
_MOST_DECIMALS = 9  # however small a number is


def plain(text: str) -> str:
    """Return `text` in ASCII: our own symbols spelled out, all else that is not ASCII escaped."""
    return text.translate(_SYMBOLS).encode("ascii", "backslashreplace").decode("ascii")


def shorten(text: str, most: int) -> str:
    """Return at most `most` characters of `text`, ending in an ellipsis if it was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"


def phrases(text: str) -> list[str]:
    """Return the words of `text`, an option and its value as one: `-F auid>=1000` stays together.

    Comparison by spaces they are `text` again.
    """
    parts: list[str] = []
    for word in text.split(" "):
        if parts and word and _OPTION.fullmatch(parts[-1]):
            parts[-1] += f" {word}"
        else:
            parts.append(word)
    return parts


def decimals(values: Iterable[float]) -> int:
    """Return the number of decimals for `values`: none for whole numbers, else four digits."""
    finite = [value for value in values if math.isfinite(value)]
    if all(abs(value - round(value)) <= _WHOLE for value in finite):
        return 0
    largest = max(abs(value) for value in finite)
    if largest >= _ONE_DECIMAL_BELOW:
        return 0
    whole_digits = math.floor(math.log10(largest)) + 1
    return min(max(1, _SIGNIFICANT - whole_digits), _MOST_DECIMALS)


def written_decimals(values: Iterable[float]) -> int:
    """Return the number of decimals that shows `values` as written, without rounding."""
    exponents = (Decimal(repr(float(value))).as_tuple().exponent for value in values)
    return max((-int(exponent) for exponent in exponents), default=0)


def round_decimal(value: float, digits: int) -> Decimal:
    """Return finite `value` with `digits` decimals, so that the numbers shown add up."""
    quantum = Decimal(1).scaleb(-digits)
    # Adding 0 turns -0 into 0.
    return Decimal(repr(float(value))).quantize(quantum, ROUND_HALF_EVEN) + 0


def number(value: float | Decimal, digits: int = 0) -> str:
    """Return `value` with `digits` decimals and thousands separated, such as `21,304`."""
    if not math.isfinite(value):
        return MISSING
    exact = value if isinstance(value, Decimal) else round_decimal(value, digits)
    return f"{exact:,.{digits}f}"


def signed_number(value: float | Decimal, digits: int = 0) -> str:
    """Return `value` as `number` does, with a plus sign if it is above zero."""
    text = number(value, digits)
    return text if text == MISSING or text.startswith("-") or not _nonzero(text) else f"+{text}"


def _nonzero(text: str) -> bool:
    return any(char in "123456789" for char in text)


def ratio(value: float) -> str:
    """Return a multiple, such as `TIMES` and 2.94: three digits, three decimals near 1."""
    if not math.isfinite(value):
        return MISSING
    size = abs(value)
    if value == 1:
        return f"{TIMES}1"
    if size >= 99.95:  # noqa: PLR2004 - from here three digits need no decimal
        return f"{TIMES}{value:,.0f}"
    if size >= 9.995:  # noqa: PLR2004 - from here three digits need one decimal
        return f"{TIMES}{value:.1f}"
    near_one = 0.9 < size < 1.1  # noqa: PLR2004 - within a tenth of nothing changed
    return f"{TIMES}{value:.{3 if near_one else 2}f}"


def percent(share: float) -> str:
    """Return a share of 1 in per cent, such as `2.0%`."""
    return f"{100 * share + 0.0:.1f}%" if math.isfinite(share) else MISSING


def penalty(ratio_to_base: float) -> str:
    """Return by how many per cent something is worse than its baseline, such as `+6.0%`."""
    return (
        f"{signed_number(100 * (ratio_to_base - 1), 1)}%"
        if math.isfinite(ratio_to_base)
        else MISSING
    )


def interval(value: float, low: float, high: float, digits: int = 0) -> str:
    """Return `value`, and its interval unless that is a point: `120 ±3`, or `120 (118 TO 131)`."""
    shown = number(value, digits)
    if low == value == high or shown == MISSING:
        return shown
    below, above = number(low, digits), number(high, digits)
    if MISSING in {below, above}:
        return shown
    if below == above == shown:
        return shown
    if round_decimal(value - low, digits) == round_decimal(high - value, digits):
        return f"{shown} ±{number(high - value, digits)}"
    return f"{shown} ({below}{TO}{above})"
