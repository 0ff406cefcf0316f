"""The output of the emulator's plugin: instructions by the functions above them.

The plugin (`crates/tcg-plugin`) writes text, one thing a line. A process chooses its own name, so
that the text is as hostile as whatever else leaves a guest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from hardcost.errors import TrialError
from hardcost.model.call_tree import Frame, FrameKind
from hardcost.protocol.plugin import schedule
from hardcost.protocol.plugin.schedule import Schedule

_KINDS = ("process", "kernel", "user")
_BEGIN, _END = "profile 1", "end"
_MOST_BYTES = 256 << 20  # a guest may make any number of stacks
_MOST_INSTRUCTIONS = 1 << 62
_ESCAPED = re.compile(r"\\u\{([0-9a-f]{1,6})\}|\\(.)")
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}


FrameCounts = tuple[tuple[int, int], ...]
"""Instructions by the number of their frame."""


@dataclass(frozen=True)
class CountedWindow:
    """The instructions of a window: from one reading of the clock to the next.

    `counts` are instructions by the number of their frame, and `total` is their sum. `idle`: so
    often the processor had nothing to do meanwhile, and the clock went on without instructions.
    `schedule` is which process ran when, where that was wanted. Of several processors, `processors`
    has the counts of each, from 0, and there are no others.
    """

    total: int
    idle: int
    counts: FrameCounts
    schedule: Schedule | None = None
    processors: tuple[FrameCounts, ...] = ()


@dataclass(frozen=True)
class Stacks:
    """All frames, numbered from 1, and all windows in their order."""

    frames: tuple[Frame, ...]
    windows: tuple[CountedWindow, ...]


def read(path: Path) -> Stacks:
    """Return the frames and windows in the plugin's output.

    Raises:
        TrialError: It is missing, or makes no sense.
    """
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES).decode(errors="replace")
        return _parse_stacks(text)
    except (OSError, ValueError) as error:
        raise TrialError(
            f"the counts that QEMU's plugin wrote can't be used: {error}",
            hint="`make setup` builds the plugin that fits",
        ) from error


def _parse_stacks(text: str) -> Stacks:
    lines = text.split("\n")
    if lines[0] != _BEGIN or lines[-2:] != [_END, ""]:
        raise ValueError("its begin or its end is missing")
    frames: list[Frame] = []
    windows: list[CountedWindow] = []
    reader = schedule.Reader()
    for line in lines[1:-2]:
        kind, _, rest = line.partition(" ")
        if kind == "place":
            frames.append(_frame(rest, len(frames)))
        elif kind == "stretch":
            _finish(windows, reader)
            windows.append(_read_window(rest, len(frames)))
        elif kind == "processor" and windows:
            windows[-1] = _add_processor(windows[-1], rest, len(frames))
        elif kind == "task":
            reader.task(_unescape(rest))
        elif not windows or not reader.take(kind, rest, windows[-1].total, len(frames)):
            raise ValueError(f"a line begins with {kind[:20]!r}")
    _finish(windows, reader)
    return Stacks(tuple(frames), tuple(windows))


def _finish(windows: list[CountedWindow], reader: schedule.Reader) -> None:
    """Add its schedule to the latest window, whose counts are all there."""
    found = reader.finish()
    if found is not None:
        windows[-1] = replace(windows[-1], schedule=found)
    if windows:
        one = windows[-1]
        if one.total != sum(count for each in (one.counts, *one.processors) for _, count in each):
            raise ValueError("the parts of a window do not add up to its total")


def _frame(text: str, known: int) -> Frame:
    above, kind, name = text.split(" ", 2)
    if kind not in _KINDS or not 0 <= int(above) <= known:
        raise ValueError(f"a place is {text[:40]!r}")
    return Frame(int(above), cast(FrameKind, kind), _unescape(name))


def _unescape(name: str) -> str:
    return _ESCAPED.sub(_character, name)


def _character(found: re.Match[str]) -> str:
    number, letter = found.groups()
    return chr(int(number, 16)) if number else _PLAIN.get(letter, letter)


def _read_window(text: str, known: int) -> CountedWindow:
    total, idle, *counts = text.split(" ")
    counted = CountedWindow(int(total), int(idle), _counts(counts, known))
    if not 0 <= counted.total <= _MOST_INSTRUCTIONS or counted.idle < 0:
        raise ValueError(f"a window has {total} instructions")
    return counted


def _add_processor(window: CountedWindow, text: str, known: int) -> CountedWindow:
    """Return a window with the counts of another processor."""
    number, *counts = text.split(" ")
    if window.counts or int(number) != len(window.processors):
        raise ValueError(f"a processor is {number[:20]!r}")
    return replace(window, processors=(*window.processors, _counts(counts, known)))


def _counts(words: list[str], known: int) -> FrameCounts:
    counts = []
    for word in words:
        frame, count = word.split(":")
        if not 1 <= int(frame) <= known or int(count) < 0:
            raise ValueError(f"a count is {word[:40]!r}")
        counts.append((int(frame), int(count)))
    return tuple(counts)
