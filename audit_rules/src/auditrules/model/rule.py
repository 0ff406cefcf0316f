"""Audit rules as written: the values that reading yields, and the words of a rule.

This package imports nothing else of hardcost, so that others can use it as a library.
"""

from __future__ import annotations

import getopt
import itertools
import posixpath
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache

from auditrules.model.fault import Fault
from auditrules.model.location import Location

LONGEST_LINE = 6143
"""The longest line, in bytes without its end, that auditctl reads in one piece."""

_SHORT_OPTIONS = "hicslDvtC:e:f:r:b:a:A:d:S:F:m:R:w:W:k:p:q:"
_LONG_OPTIONS = [
    "loginuid-immutable",
    "backlog_wait_time=",
    "reset-lost",
    "reset_backlog_wait_time_actual",
    "signal=",
]
_TAKE_A_VALUE = frozenset(
    f"-{letter}" for letter, mark in itertools.pairwise(_SHORT_OPTIONS) if mark == ":"
)
_PLAIN = _TAKE_A_VALUE | {f"-{letter}" for letter in _SHORT_OPTIONS if letter != ":"}
_WORD = re.compile(r"(?:\\.|[^ \\]|\\$)+", re.DOTALL)
_KEPT = re.compile(r"\\([ \\])")
_QUOTED = re.compile(r"""(["'])(.*?)\1""")


@dataclass(frozen=True)
class Rule:
    """One rule (`-a`, `-A` or `-w` line), its words as the user wrote them.

    `key` is the first key (`-k`, `-F key=`), or "". `watched_directories` and `watched_files` are
    the absolute paths whose existence the rule needs or tests (`-w`, `-F path=`, `-F dir=`,
    `-F exe=`). `columns` are where its words begin in the line, from 1. `ignores` are the codes of
    diagnostics that comments above it leave out.
    """

    text: str
    place: Location | None = None
    key: str = ""
    watched_directories: tuple[str, ...] = ()
    watched_files: tuple[str, ...] = ()
    columns: tuple[int, ...] = field(default=(), compare=False)
    ignores: frozenset[str] = field(default=frozenset(), compare=False, repr=False)


@dataclass(frozen=True)
class RuleSet:
    """The combined content of files of rules.

    `options` are the control lines that matter to a measurement, such as `--backlog_wait_time
    60000`; `tolerant`: the files have auditctl continue after a refused rule (-i, -c). `notes` say
    what was read but ignored (`-e 2`, `-f 2`, `-D` …), with the place.
    """

    rules: tuple[Rule, ...]
    backlog_limit: int | None = None
    options: tuple[str, ...] = ()
    tolerant: bool = False
    notes: tuple[str, ...] = ()


LOCK = ("-e", "2")
"""The setting after which the kernel accepts no change of rules and settings."""


class RuleKind(StrEnum):
    """The kind of a line; each line has exactly one."""

    BLANK = "blank"
    COMMENT = "comment"
    RULE = "rule"
    DELETION = "deletion"
    """It deletes one rule: -d or -W."""
    SETTING = "setting"
    MOOT = "moot"
    """It sets the state that a fresh guest already has, such as `-D` or `-e 1`."""
    LEFT_OUT = "left out"
    """It is ignored, and a note says why."""
    REPLACED = "replaced"
    """augenrules drops it, since a later line repeats the setting."""
    FAULT = "fault"


@dataclass(frozen=True)
class Reading:
    """The meaning of one line.

    `text` is the line's words with single spaces. `rule` is the rule that it adds, `deletion` the
    one that it deletes. `deletes` is what the keys of the rules have in common that the line
    deletes (-D -k), "" for all rules, None where it deletes none. `settings` are its other options
    with their values, in order, numbers as they are read: `("-e", "2")`.
    """

    kind: RuleKind
    place: Location
    text: str = ""
    rule: Rule | None = None
    deletion: Rule | None = None
    settings: tuple[tuple[str, str], ...] = ()
    backlog_limit: int | None = None
    options: tuple[str, ...] = ()
    tolerant: bool = False
    deletes: str | None = None
    notes: tuple[str, ...] = ()
    fault: Fault | None = None
    cut_at: int | None = None
    """The column of a NUL byte, from which on auditctl ignores the line."""
    carriage_return: bool = False
    """Whether a carriage return ends the line, as it does in files of other systems."""
    raw: str = field(default="", compare=False)
    """The line as it is in its file, with all its spaces."""
    ignores: frozenset[str] = field(default=frozenset(), compare=False)
    """The codes of which no diagnostic is wanted here, as comments above the line say."""

    def at_fault(self, message: str, remedy: str | None, column: int | None = None) -> Reading:
        """Return the reading of the line as a faulty one."""
        fault = Fault(message, self.place.at(column), remedy)
        return Reading(RuleKind.FAULT, self.place, self.text, fault=fault)


@lru_cache(maxsize=4096)
def plain_path(path: str) -> str:
    """Return a path without redundant parts (`/a//b/../c/.`), assuming that it has no links."""
    return posixpath.normpath(f"/{path.lstrip('/')}")


def split_words(text: str) -> list[str]:
    r"""Return the words of a line as auditctl splits them, as written.

    Words end at spaces alone; `\ ` is a space and `\\` a backslash within a word.
    """
    if "\\" not in text:
        return [word for word in text.split(" ") if word]
    return _WORD.findall(text)


def escape_word(text: str) -> str:
    """Return a text as one word of a line, as `split_words` reads it."""
    return text.replace("\\", "\\\\").replace(" ", "\\ ")


def strip_quotes(text: str) -> str:
    r"""Return text without pairs of quotes, spaces between them as auditctl wants them: `\ `."""
    return _QUOTED.sub(lambda found: found[2].replace(" ", "\\ "), text)


def word_columns(text: str) -> tuple[int, ...]:
    """Return where the words of a line begin, from 1."""
    if "\\" in text:
        return tuple(found.start() + 1 for found in _WORD.finditer(text))
    columns: list[int] = []
    column = 1
    for word in text.split(" "):
        if word:
            columns.append(column)
        column += len(word) + 1
    return tuple(columns)


def split_options(words: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return a line's options with their values, and the words that belong to none.

    Raises `getopt.GetoptError` for an option that auditctl has not.
    """
    meant = [_KEPT.sub(r"\1", word) if "\\" in word else word for word in words]
    options: list[tuple[str, str]] = []
    position = 0
    while position < len(meant):
        option = meant[position]
        if option not in _PLAIN:
            break
        position += 1
        value = ""
        if option in _TAKE_A_VALUE:
            if position == len(meant):
                break
            value = meant[position]
            position += 1
        options.append((option, value))
    else:
        return options, []
    # What people seldom write: long options, options glued to their values or each other.
    return getopt.gnu_getopt(meant, _SHORT_OPTIONS, _LONG_OPTIONS)


def option_positions(words: list[str], options: list[tuple[str, str]]) -> list[tuple[int, int]]:
    """Return the positions of each option and of its value among the words; they may be one."""
    positions: list[tuple[int, int]] = []
    at = 0
    for option, value in options:
        word = words[at] if at < len(words) else ""
        apart = word == option if not option.startswith("--") else "=" not in word
        width = 2 if value and apart else 1
        positions.append((at, at + width - 1))
        at += width
    return positions


def option_keys(options: list[tuple[str, str]]) -> tuple[str, ...]:
    """Return the keys among a rule's options (`-k`, `-F key=`), in order."""
    found: list[str] = []
    for option, value in options:
        if option == "-k":
            found.append(value)
        elif option == "-F" and value.startswith("key="):
            found.append(value.removeprefix("key="))
    return tuple(found)


def rule_keys(rule: Rule) -> tuple[str, ...]:
    """Return all keys of a rule, in order."""
    return option_keys(split_options(split_words(rule.text))[0])


def with_key(rule: Rule, key: str) -> Rule:
    """Return the rule with all its keys replaced by `key`, so that its records can be identified.

    Only a rule that can write records of system calls has a key to be counted by: `never` rules,
    and those of lists other than `exit`, come back as they are.
    """
    words = split_words(rule.text)
    kept: list[str] = []
    position = 0
    while position < len(words):
        width = 2 if words[position] in _TAKE_A_VALUE else 1
        option = words[position : position + width]
        position += width
        if not "".join(option).startswith(("-k", "-Fkey=")):
            kept.extend(option)
    options, _ = split_options(kept)
    lists = [value for option, value in options if option in {"-a", "-A"}]
    if lists and sorted(lists[0].split(",")) != ["always", "exit"]:
        return rule
    # auditctl wants a system call, a permission or a program before a key, and itself takes all
    # system calls for a rule that names none of them.
    if not any(
        option in {"-S", "-w", "-p"} or (option == "-F" and value.startswith(("perm=", "exe=")))
        for option, value in options
    ):
        kept += ["-S", "all"]
    return replace(rule, text=" ".join([*kept, "-k", key]), key=key)
