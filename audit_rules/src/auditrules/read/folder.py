"""The order in which augenrules (audit 3.0.9) puts the files of a folder and their lines."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable

from auditrules.model.rule import Reading, RuleKind


def as_augenrules(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """Return the lines in augenrules' order: of -D, -b and -f the last first, of -e at the end."""
    moved: dict[str, Reading] = {}
    rest: list[Reading] = []
    for reading in readings:
        found = re.match(r"-D\s*$|-[bfe]", reading.text)
        if found is None or reading.fault:
            rest.append(reading)
            continue
        option = found[0][:2]
        if option in moved and option != "-D":
            note = f"{moved[option].place}: `{moved[option].text}` is replaced by {reading.place}"
            replaced = moved[option]
            rest.append(
                Reading(
                    RuleKind.REPLACED,
                    replaced.place,
                    replaced.text,
                    notes=(note,),
                    carriage_return=replaced.carriage_return,
                )
            )
        moved[option] = reading
    first = [moved[option] for option in ("-D", "-b", "-f") if option in moved]
    return (*first, *rest, *(moved[option] for option in ("-e",) if option in moved))


def version_key(name: str) -> tuple[tuple[int, ...], ...]:
    """Return the sort key of `ls -v`: numbers within a name count as numbers.

    As documented for GNU `sort --version-sort`: the name without its suffixes first, then the
    whole; `~` sorts before the end of a name, letters before all other characters.
    """
    data = os.fsencode(name)
    stem = re.sub(rb"(?:\.[A-Za-z~][A-Za-z0-9~]*)*$", b"", data)
    return _runs(stem), _runs(data), tuple(data)


def _runs(data: bytes) -> tuple[int, ...]:
    """Return the ranks of a name's characters, and -1 and its value for each number.

    The end of a name ranks as an endless series of zeros, hence the padding beyond the ranks of
    255 bytes, a name's maximum.
    """
    ranks: list[int] = []
    for number, other in re.findall(rb"([0-9]+)|([^0-9])", data, re.DOTALL):
        if number:
            ranks += [-1, int(number)]
        elif other == b"~":
            ranks.append(-2)
        else:
            ranks.append(ord(other) if other.isalpha() else ord(other) + 256)
    return tuple(itertools.islice(itertools.chain(ranks, itertools.cycle((-1, 0))), 512))
