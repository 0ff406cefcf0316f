"""The rules that arguments name: files, standard input, rules in quotes, names of the caller."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from auditrules.library.caller import Caller
from auditrules.model.errors import InputError
from auditrules.model.fault import Fault
from auditrules.model.rule import Reading
from auditrules.read import parse
from auditrules.read.rule_text import is_rule

INPUT = "-"
STANDARD_INPUT = "standard input"
COMMAND_LINE = "the command line"

Part = tuple[tuple[Reading, ...], list[Fault]]
"""The lines of an argument, and the faults that keep whole files from being read."""


def files_of(texts: Sequence[str], caller: Caller) -> list[Path]:
    """Return the files and folders of audit rules among arguments."""
    return [Path(text) for text in texts if _is_rules_file(text, caller)]


def parts(texts: Sequence[str], caller: Caller) -> list[Part]:
    """Return the lines of audit rules that each argument stands for, also faulty ones.

    Raises:
        InputError: One names nothing, or nothing with audit rules.
    """
    check_once(texts)
    found: list[Part] = []
    typed = 0
    for text in texts:
        if text == INPUT:
            found.append((parse.read_bytes(standard_input(), STANDARD_INPUT), []))
        elif is_rule(text):
            raw = text.strip().encode(errors="surrogateescape")
            lines = parse.read_bytes(raw, COMMAND_LINE)
            found.append((tuple(_line_below(one, typed) for one in lines), []))
            typed += len(lines)
        elif _is_rules_file(text, caller):
            found.extend(parse.read_each([Path(text)]))
        else:
            found.append((caller.rules_named(text), []))
    return found


def check_once(texts: Sequence[str]) -> None:
    """Check that standard input is named once at most.

    Raises:
        InputError: It is named more often.
    """
    if sum(text == INPUT for text in texts) > 1:
        raise InputError("standard input can be read only once", hint="name a file for the other")


def standard_input() -> bytes:
    """Return the bytes of standard input, at most as many as rules may have."""
    data = sys.stdin.buffer.read(parse.LARGEST_FILE + 1)
    too_much = parse.excess(len(data), data.count(b"\n"))
    if too_much:
        raise InputError(
            f"{STANDARD_INPUT} is {too_much}, too much for audit rules",
            hint="send audit rules alone",
        )
    return data


def _is_rules_file(text: str, caller: Caller) -> bool:
    """Say whether a text names a file or folder that is read as auditctl and augenrules do."""
    if text == INPUT or is_rule(text):
        return False
    try:
        return Path(text).exists() and not caller.knows(text)
    except (OSError, ValueError):
        return False


def _line_below(one: Reading, by: int) -> Reading:
    """Return a line of a quoted rule, counted among those of all quoted rules."""
    place = one.place.below(by)
    fault = one.fault and replace(one.fault, place=one.fault.place.below(by))
    return replace(one, place=place, fault=fault, rule=one.rule and replace(one.rule, place=place))
