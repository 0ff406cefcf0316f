"""Control lines: options that neither add nor delete a rule."""

from __future__ import annotations

import re
from dataclasses import replace

from auditrules.model.rule import Reading, RuleKind

NUMBERS = frozenset({"-b", "-r", "--backlog_wait_time", "-e", "-f"})
"""The settings that take a number; any of them may stand together on a line."""

_LARGEST_NUMBER = 2**32 - 1
_LARGEST_LONG = 2**64 - 1  # beyond it strtoul fails, and auditctl refuses the line
_ONE_OF = {"-e": ("0", "1", "2"), "-f": ("0", "1", "2")}
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_MOST_DIGITS = 20  # decimal ones of the largest number of 64 bits

_NOT_TAKEN = {
    "-e 0": "audit stays on while it is measured",
    "-e 2": "it would lock the rules, and does not affect a workload",
    "-f 0": "it only decides what happens when records are lost",
    "-f 2": "it would stop the machine when records are lost",
    "-s": "it asks for a report",
    "-l": "it asks for a report",
    "-v": "it asks for a report",
    "-t": "a fresh machine has nothing to trim",
    "-m": "it only sends a message",
    "-q": "it is about mounts that a fresh machine does not have",
    "--signal": "it only sends a signal",
}
_GO_ON = frozenset({"-i", "-c"})
_MOOT = frozenset({"-e 1", "-f 1", "--reset-lost", "--reset_backlog_wait_time_actual"})
_SIGNALS = frozenset({"term", "hup", "usr1", "usr2", "cont"})
_REFUSED = {
    "-R": ("a rules file can't include another", "name both files"),
    "-h": ("auditctl shows its help and treats the line as an error", "remove it"),
}


def with_setting(reading: Reading, option: str, value: str, column: int | None) -> Reading:
    """Return the reading with one setting of its line added; `column` is where its value stands."""
    if option in _REFUSED:
        return reading.at_fault(*_REFUSED[option], column)
    if option in NUMBERS:
        meant = number(option, value)
        if meant is None:
            return reading.at_fault(
                f"{option} takes {_expected_value(option)}, not {value!r}", None, column
            )
        if option not in _ONE_OF and not _is_exact(value, meant):
            note = f"{reading.place}: auditctl reads `{option} {value}` as {meant}"
            reading = replace(reading, notes=(*reading.notes, note))
        value = meant
    problem = _wrong_value(option, value)
    if problem:
        return reading.at_fault(*problem, column)
    reading = replace(reading, settings=(*reading.settings, (option, value)))
    return _apply_setting(reading, option, value)


def number(option: str, text: str) -> str | None:
    """Return the number that auditctl reads, in decimals, or None where it refuses the text.

    C's strtoul reads up to the first character that it doesn't know: hexadecimal after 0x, octal
    after 0; and what is kept are 32 bits.
    """
    if option in _ONE_OF:
        return text if text in _ONE_OF[option] else None
    found = _NUMBER.match(text)
    if found is None:
        return None
    value = _read_number(found[0])
    return str(value & _LARGEST_NUMBER) if value <= _LARGEST_LONG else None


def _read_number(digits: str) -> int:
    if digits[:2] in {"0x", "0X"}:
        return int(digits, 16)
    if digits.startswith("0"):
        return int(digits, 8)
    return int(digits[: _MOST_DIGITS + 1])


def _is_exact(text: str, meant: str) -> bool:
    """Say whether auditctl reads a number as people do, but for the base."""
    if not _NUMBER.fullmatch(text):
        return False
    return text == meant or (text.startswith("0") and _read_number(text) <= _LARGEST_NUMBER)


def _expected_value(option: str) -> str:
    if option in _ONE_OF:
        return "a number from 0 to 2"
    return f"a number from 0 to {_LARGEST_NUMBER}"


def _wrong_value(option: str, value: str) -> tuple[str, str] | None:
    """Return the fault of the value of an option that takes text, and its remedy."""
    parts = value.split(",")
    if option == "-q" and (len(parts) != 2 or not parts[1]):  # noqa: PLR2004  (a pair)
        return f"{value!r} is not a mount and a subtree joined by a comma", "write -q MOUNT,SUBTREE"
    if option == "--signal" and value.lower() not in _SIGNALS:
        return f"auditctl sends no signal {value!r}", "it sends TERM, HUP, USR1, USR2 and CONT"
    return None


def _apply_setting(reading: Reading, option: str, value: str) -> Reading:
    """Return the reading with the effect of a setting on a measurement."""
    setting = f"{option} {value}".rstrip()
    if setting in _MOOT:
        return (
            reading if reading.kind is not RuleKind.BLANK else replace(reading, kind=RuleKind.MOOT)
        )
    reason = _NOT_TAKEN.get(setting) or _NOT_TAKEN.get(option)
    if reason is not None:
        note = f"{reading.place}: `{setting}` is ignored: {reason}"
        left_out = reading.kind in {RuleKind.BLANK, RuleKind.MOOT}
        kind = RuleKind.LEFT_OUT if left_out else reading.kind
        return replace(reading, kind=kind, notes=(*reading.notes, note))
    return replace(
        reading,
        kind=RuleKind.RULE if reading.kind is RuleKind.RULE else RuleKind.SETTING,
        backlog_limit=int(value) if option == "-b" else reading.backlog_limit,
        tolerant=reading.tolerant or option in _GO_ON,
        options=reading.options if option in {"-b", *_GO_ON} else (*reading.options, setting),
    )
