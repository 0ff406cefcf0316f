"""What the emulator's plugin saw: how many instructions were executed under which functions.

The plugin (`crates/tcg-plugin`) writes text, one thing a line. A process chooses its own name, so
that the text is as hostile as whatever else leaves a guest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast

from hardcost.errors import TrialError
from hardcost.machines import noted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hardcost.machines.noted import Noted

Kind = Literal["process", "kernel", "user"]
"""What stands at a place of the tree: a process by its name, or a function."""

_KINDS = ("process", "kernel", "user")
_BEGIN, _END = "profile 1", "end"
_MOST_BYTES = 256 << 20
_MOST_INSTRUCTIONS = 1 << 62
_ESCAPED = re.compile(r"\\u\{([0-9a-f]{1,6})\}|\\(.)")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


@dataclass(frozen=True)
class Place:
    """A function, or a process, below another place; `parent` is that one's number, 0 for none."""

    parent: int
    kind: Kind
    name: str


@dataclass(frozen=True)
class Stretch:
    """What was executed in a window: from one reading of the clock to the next.

    `counts` are instructions by the number of their place, and `total` is their sum. `idle`: so
    often the processor had nothing to do meanwhile, and the clock went on without instructions.
    `noted` is which process ran when, where that was wanted.
    """

    total: int
    idle: int
    counts: tuple[tuple[int, int], ...]
    noted: Noted | None = None


@dataclass(frozen=True)
class Stacks:
    """All places, numbered from 1, and all stretches in their order."""

    places: tuple[Place, ...]
    stretches: tuple[Stretch, ...]


def read(path: Path) -> Stacks:
    """Return what the plugin wrote.

    Raises:
        TrialError: It is missing, or makes no sense.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode(errors="replace")
        return _parsed(text)
    except (OSError, ValueError) as error:
        raise TrialError(
            f"the profile that QEMU's plugin wrote can't be used: {error}",
            hint="`make setup` builds the plugin that fits",
        ) from error


def _parsed(text: str) -> Stacks:
    lines = text.split("\n")
    if lines[0] != _BEGIN or lines[-2:] != [_END, ""]:
        raise ValueError("its begin or its end is missing")
    places: list[Place] = []
    stretches: list[Stretch] = []
    reader = noted.Reader()
    for line in lines[1:-2]:
        kind, _, rest = line.partition(" ")
        if kind == "place":
            places.append(_place(rest, len(places)))
        elif kind == "stretch":
            _finish(stretches, reader)
            stretches.append(_stretch(rest, len(places)))
        elif kind == "task":
            reader.task(_unescaped(rest))
        elif not stretches or not reader.take(kind, rest, stretches[-1].total, len(places)):
            raise ValueError(f"a line begins with {kind[:20]!r}")
    _finish(stretches, reader)
    return Stacks(tuple(places), tuple(stretches))


def _finish(stretches: list[Stretch], reader: noted.Reader) -> None:
    """Give the latest stretch what was noted of it."""
    found = reader.finish()
    if found is not None:
        stretches[-1] = replace(stretches[-1], noted=found)


def _place(text: str, known: int) -> Place:
    parent, kind, name = text.split(" ", 2)
    if kind not in _KINDS or not 0 <= int(parent) <= known:
        raise ValueError(f"a place is {text[:40]!r}")
    return Place(int(parent), cast("Kind", kind), _unescaped(name))


def _unescaped(name: str) -> str:
    return _ESCAPED.sub(_character, name)


def _character(found: re.Match[str]) -> str:
    number, letter = found.groups()
    return chr(int(number, 16)) if number else _PLAIN.get(letter, letter)


def _stretch(text: str, known: int) -> Stretch:
    total, idle, *counts = text.split(" ")
    stretch = Stretch(int(total), int(idle), tuple(_counts(counts, known)))
    if not 0 <= stretch.total <= _MOST_INSTRUCTIONS or stretch.idle < 0:
        raise ValueError(f"a stretch has {total} instructions")
    if stretch.total != sum(count for _, count in stretch.counts):
        raise ValueError("a stretch's parts are not its sum")
    return stretch


def _counts(words: list[str], known: int) -> Iterator[tuple[int, int]]:
    for word in words:
        place, count = word.split(":")
        if not 1 <= int(place) <= known or int(count) < 0:
            raise ValueError(f"a count is {word[:40]!r}")
        yield int(place), int(count)
