"""Names of architectures and calls that auditctl doesn't know, and the one name that is near.

Near is one slip away: a letter too much, too little, another one, or two that changed places. Where
several names are near, or none is, which was meant is not certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from auditrules.auditctl.field_values import (
    ARCHES,
    NEVER_CALLS,
    RefusedError,
    arch_of,
    call_number,
    fold_case,
)
from auditrules.repair.line_words import LineWords
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

_ARCH = "arch="
_NAME = re.compile(r"[^\s,=]+")
_MOST = 5


class UncertainError(Exception):
    """The intended name is not certain; the message says why."""


def near(word: str, known: Iterable[str]) -> list[str]:
    """Return the known names that are one slip away, sorted."""
    return sorted(name for name in known if _one_slip(word, name))


def respell(raw: str) -> str:
    """Return a line with each unknown architecture and call replaced by the near name.

    A line in which no name is unknown comes back as it is.

    Raises:
        UncertainError: A name has no near one, or several.
    """
    words = LineWords(raw)
    arch: Arch = "b64"
    changed: dict[int, str] = {}
    for at, (option, value) in enumerate(words.options):
        if option == "-F" and value.startswith(_ARCH):
            name = value.removeprefix(_ARCH)
            meant = _arch(name)
            arch = arch_of(meant)
            new = _ARCH + meant
        elif option == "-S":
            new = ",".join(_call(name, arch) for name in value.split(","))
        else:
            continue
        if new != value:
            changed[at] = words.text_of(at).replace(value, new)
    return words.with_texts(changed)


def names_changed(before: str, after: str) -> list[tuple[str, str]]:
    """Return the names that `respell` changed, each with its new spelling."""
    old, new = (_NAME.findall(text) for text in (before, after))
    return [(a, b) for a, b in zip(old, new, strict=True) if a != b]


def _arch(name: str) -> str:
    try:
        arch_of(name)
    except RefusedError:
        return _the_one(name, near(fold_case(name), ARCHES), "architecture")
    return name


def _call(name: str, arch: Arch) -> str:
    if name == "all":
        return name
    try:
        call_number(name, arch)
    except RefusedError as error:
        other: Arch = "b32" if arch == "b64" else "b64"
        known = (lookup.calls(other), lookup.newer_calls(), NEVER_CALLS)
        if any(fold_case(name) in names for names in known):
            raise UncertainError(f"{error.message}: {error.remedy}") from None
        return _the_one(name, near(fold_case(name), lookup.calls(arch)), "system call")
    return name


def _the_one(name: str, found: list[str], what: str) -> str:
    if len(found) == 1:
        return found[0]
    if not found:
        raise UncertainError(f"no {what} is one slip away from {name!r}")
    some = ", ".join(found[:_MOST])
    raise UncertainError(f"{len(found)} names of a {what} are as near to {name!r}: {some}")


def _one_slip(a: str, b: str) -> bool:
    """Say whether two words differ by one slip (Damerau, 1964)."""
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    start = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), None)
    if start is None:
        return True  # one is the other with one more letter
    x, y = a[start:], b[start:]
    swapped = x[1:2] + x[:1] == y[:2] and len(x) > 1 and x[2:] == y[2:]
    return swapped or x[1:] == y[1:] or x[1:] == y or x == y[1:]
