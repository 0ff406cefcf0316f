"""One line of audit rules: its bytes, words and options, and their meaning together.

These checks determine how a line is read. `translate` checks whether fields and system calls
exist.

The facts are those of audit 3.0.9, tried on the program itself: only spaces end words (a tab
is part of a word, as is a carriage return at the end; quotes have no meaning), a backslash keeps a
space or a backslash within a word and does not join lines, a line longer than its buffer is read as
two, a NUL byte cuts the line, and bytes that are not UTF-8 are kept.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from getopt import GetoptError

from auditrules.model.fault import Fault
from auditrules.model.location import Location
from auditrules.model.rule import (
    LONGEST_LINE,
    Reading,
    Rule,
    RuleKind,
    option_keys,
    option_positions,
    split_options,
    split_words,
    strip_quotes,
    word_columns,
)
from auditrules.read import control_lines

_ADD = frozenset({"-a", "-A", "-w"})
_DELETE = frozenset({"-d", "-W"})
_OF_A_RULE = frozenset({"-S", "-F", "-C", "-k", "-p"})
_REPORTS = {"-l": ([], ["-i"], ["-k"]), "-s": ([], ["-i"])}
"""Options that ask for a report, with what may follow them."""

_MARK = re.compile(r"[\x01\x04\x07]")
"""The separator of a rule's keys, and what auditctl 3.0.9 substitutes for spaces and backslashes
within a word."""

_COMMENT = re.compile(r"[ \t]#")
"""The beginning of a comment that follows a rule."""

_PATH_FIELD = re.compile(r"(path|dir|exe)!?=(/.*)", re.DOTALL)

_SPACED = re.compile(r"(?:path|dir|exe|key)!?=")
"""The beginning of a field whose value may contain spaces."""

LineProblem = tuple[str, str | None, int | None]
"""The message, the remedy and the column, as far as they are known."""


def read_raw(line: bytes, place: Location) -> Reading:
    """Return the reading of a line's bytes; bytes that are not UTF-8 are kept.

    A NUL byte ends the line for auditctl.
    """
    end = line.find(b"\0")
    reading = read_text(line[: end if end >= 0 else None].decode(errors="surrogateescape"), place)
    return reading if end < 0 else replace(reading, cut_at=end + 1)


def read_text(text: str, place: Location) -> Reading:
    """Return the reading of one line."""
    if not text.strip(" "):
        return Reading(RuleKind.BLANK, place, raw=text)  # at once, as a file may have many
    reading = _read(text, place)
    fault = reading.fault
    if fault is not None:
        remedy = _repair(text, place)
        if remedy is not None:
            fault = replace(fault, remedy=remedy)
        elif "\t" in text.strip():
            message = "the line contains a tab, which auditctl does not treat as a space"
            place = fault.place.at(text.index("\t") + 1)
            fault = Fault(message, place, "write spaces between the words")
    return replace(reading, fault=fault, carriage_return=text.endswith("\r"), raw=text)


def _repair(text: str, place: Location) -> str | None:
    """Return the remedy that certainly makes a faulty line readable, if it is known."""
    bare = text.rstrip("\r")
    rule = bare if bare.lstrip().startswith("#") else _COMMENT.split(bare)[0]
    repairs = (
        (bare, "save the file with Unix line ends"),
        (rule, "put the comment on its own line"),
        (strip_quotes(bare), _no_quotes(bare)),
    )
    for repaired, remedy in repairs:
        if repaired != text and _read(repaired, place).fault is None:
            return remedy
    return None


def _no_quotes(text: str) -> str:
    """Return the remedy for the quotes in a line."""
    spaced = any(word.endswith("\\") for word in strip_quotes(text).split(" ")[:-1])
    space = r", and write a space within a word as `\ `" if spaced else ""
    return f"remove the quotes, which auditctl treats as part of the word{space}"


def _read(text: str, place: Location) -> Reading:
    words = split_words(text)
    reading = Reading(RuleKind.BLANK, place, " ".join(words))
    if not words:
        return reading
    if words[0].startswith("#") and len(text) <= LONGEST_LINE:
        return Reading(RuleKind.COMMENT, place, reading.text.rstrip("\r"))
    problem = _unreadable(text, words)
    if problem:
        return reading.at_fault(*problem)
    line = _Line(reading, words, word_columns(text))
    try:
        options, rest = split_options(words)
    except GetoptError as error:
        said, remedy = _bad_option(error)
        return _with_effects(reading.at_fault(said, remedy, line.bad_option(error)), words)
    if rest:
        return reading.at_fault(*_stray(rest, options, words), line.column_of(rest[0]))
    return line.read(options)


def _with_effects(reading: Reading, words: list[str]) -> Reading:
    """Return the reading with the effects that the line has before auditctl rejects it."""
    first = words[0] if len(words) == 1 else ""
    if re.fullmatch(r"-D[\r\t]", first):
        return replace(reading, deletes="")
    return replace(reading, tolerant=bool(re.fullmatch(r"-[ic][\r\t]", first)))


def _bad_option(error: GetoptError) -> tuple[str, str]:
    """Return the fault of an option that getopt does not take, and the remedy."""
    if "requires argument" in error.msg:
        dashes = "-" if len(error.opt) == 1 else "--"
        return f"{dashes}{error.opt} has no value", "write its value after it, or remove it"
    return f"auditctl has no such option: {error.msg}", "see auditctl(8)"


def _stray(rest: list[str], options: list[tuple[str, str]], words: list[str]) -> tuple[str, str]:
    """Return the fault of a word that belongs to no option, and the remedy."""
    message = f"{rest[0]!r} belongs to no option"
    taken, value = next(((o, v) for o, v in options if v in _OF_A_RULE), ("", ""))
    if taken:
        return message, (
            f"{taken} has no value of its own and so takes {value}:"
            f" write one after {taken}, or remove {taken}"
        )
    if rest[0].startswith("#"):
        return message, "put the comment on its own line"
    remedy = r"write a space within a word as `\ `; quotes do not group words"
    return message, _space_remedy(rest, words) or remedy


def _space_remedy(rest: list[str], words: list[str]) -> str | None:
    """Return the remedy where the first word of no option follows an option's value."""
    at = words.index(rest[0]) if rest[0] in words else 0
    option, value = words[at - 2 : at] if at > 1 else ("", "")
    following = itertools.takewhile(lambda word: not word.startswith("-"), words[at:])
    parts = [value, *(word.rstrip("\r") for word in following)]
    if option in {"-k", "-w"} or (option == "-F" and _SPACED.match(value)):
        what = "key" if option == "-k" or value.startswith("key=") else "path"
        whole = r"\ ".join(parts)
        return rf"if the {what} contains a space, write `\ `: {whole}"
    if option == "-S":
        calls = (part.strip(",") for part in parts)
        return f"join calls with commas, without spaces: {','.join(filter(None, calls))}"
    if option in {"-a", "-A", "-d", "-F", "-C"}:
        return f"remove the spaces: {''.join(parts)}"
    return None


def _unreadable(text: str, words: list[str]) -> LineProblem | None:
    """Return the fault of a line's characters or the number of its words, or None."""
    first = words[0]
    if first[:1] == "-" != first and not _has_odd_characters(text) and len(words) <= len(text) // 3:
        return None
    length = len(text.encode(errors="surrogateescape"))
    mark = _MARK.search(text)
    most = length // 3 + 1  # the words for which auditctl 3.0.9 makes room
    start = text.index(first) + 1
    problems: tuple[tuple[bool, LineProblem], ...] = (
        (
            length > LONGEST_LINE,
            (
                f"the line has {length} bytes; auditctl cuts it after {LONGEST_LINE}",
                "split it into two lines",
                None,
            ),
        ),
        (
            len(words) > most,
            (
                f"auditctl 3.0.9 drops words from {words[min(most, len(words) - 1)]!r} on",
                "name all calls after one -S, joined with commas",
                word_columns(text)[min(most, len(words) - 1)],
            ),
        ),
        (
            mark is not None,
            (
                f"auditctl treats {mark[0] if mark else ''!r} as a mark of its own",
                "delete the character, or name a file of audit rules",
                mark.start() + 1 if mark else None,
            ),
        ),
        (
            text.startswith("\ufeff"),
            ("the file begins with a byte order mark", "save it as UTF-8 without one", 1),
        ),
        (
            first.strip("\t\r") == "",
            ("auditctl accepts no white space except spaces", "leave the line empty", start),
        ),
        (
            first.startswith("\t"),
            ("the line begins with a tab, which auditctl treats as a word", "use spaces", start),
        ),
        (
            first.endswith("auditctl"),
            (f"{first!r} is not an option of auditctl", "remove the word auditctl", start),
        ),
        (
            not first.startswith("-") or first == "-",
            (
                f"{first!r} is not an option of auditctl",
                "a line begins with -a, -A, -w or another option, a comment with #",
                start,
            ),
        ),
    )
    return next((problem for wrong, problem in problems if wrong), None)


def _has_odd_characters(text: str) -> bool:
    # No character has more than four bytes.
    return len(text) * 4 > LONGEST_LINE or not text.isprintable()


class _Line:
    """A line during the reading of its options."""

    def __init__(self, reading: Reading, words: list[str], columns: tuple[int, ...]) -> None:
        self.reading, self.words, self.columns = reading, words, columns

    def column_of(self, meant: str) -> int | None:
        """Return where a word stands, given without its backslashes."""
        for word, column in zip(self.words, self.columns, strict=True):
            if word == meant or word.replace("\\", "") == meant.replace("\\", ""):
                return column
        return None

    def bad_option(self, error: GetoptError) -> int | None:
        """Return where the option stands that an error names."""
        for word, column in zip(self.words, self.columns, strict=True):
            long = word.startswith("--") and error.opt in word
            if long or (word.startswith("-") and len(error.opt) == 1 and error.opt in word):
                return column
        return None

    def read(self, options: list[tuple[str, str]]) -> Reading:
        """Return the reading of the line, from its options with their values."""
        names = [option for option, _ in options]
        adds = [at for at, name in enumerate(names) if name in _ADD or name in _DELETE]
        others = [at for at, name in enumerate(names) if name not in _ADD | _DELETE | _OF_A_RULE]
        if len(adds) == 1 and not others:
            return self.rule(options, options[adds[0]][0])
        problem = self._combination_problem(options, adds, others)
        if problem:
            return self.reading.at_fault(*problem)
        if names[0] == "-D":
            deletes = options[1][1] if len(options) > 1 else ""
            return replace(self.reading, kind=RuleKind.MOOT, deletes=deletes)
        if names[0] in _REPORTS:
            options, others = options[:1], [0]
        reading = self.reading
        if adds:
            kept = [option for at, option in enumerate(options) if at not in others]
            reading = self._without(options, others).rule(kept, options[adds[0]][0])
        for at in others:
            option, value = options[at]
            column = self._value_column(options, at)
            reading = control_lines.with_setting(reading, option, value, column)
            if reading.fault:
                break
        return reading

    def _without(self, options: list[tuple[str, str]], others: list[int]) -> _Line:
        """Return the line without some of its options."""
        positions = option_positions(self.words, options)
        gone = {place for at in others for place in positions[at]}
        kept = [at for at in range(len(self.words)) if at not in gone]
        words = [self.words[at] for at in kept]
        reading = replace(self.reading, text=" ".join(words))
        return _Line(reading, words, tuple(self.columns[at] for at in kept))

    def _option_column(self, options: list[tuple[str, str]], at: int) -> int | None:
        position = option_positions(self.words, options)[at][0]
        return self.columns[position] if position < len(self.columns) else None

    def _value_column(self, options: list[tuple[str, str]], at: int) -> int | None:
        position = option_positions(self.words, options)[at][1]
        return self.columns[position] if position < len(self.columns) else None

    def _combination_problem(
        self, options: list[tuple[str, str]], adds: list[int], others: list[int]
    ) -> LineProblem | None:
        """Return the fault of the combination of options on a line, or None."""
        names = [option for option, _ in options]
        if not names:
            return "the line has no option", "see auditctl(8)", None
        if names[0] == "-D":
            return self._bad_delete_all(options)
        if names[0] in _REPORTS and names[1:] in _REPORTS[names[0]]:
            return None
        apart = [at for at in others if names[at] not in control_lines.NUMBERS]
        in_front = [at for at in apart if at < len(names) - 1]
        problems = (
            (
                adds[1:2],
                f"{' and '.join(names[at] for at in adds)} are on one line",
                "split it into two rules",
            ),
            (
                apart[:1] if adds else [],
                f"{', '.join(names[at] for at in apart)} can't be part of a rule",
                "give it its own line",
            ),
            (
                [0] if not adds and len(others) < len(names) else [],
                "the line names neither a list nor a path to watch",
                "begin it with -a always,exit or with -w PATH",
            ),
            (
                [in_front[0] + 1] if in_front else [],
                "auditctl accepts only one of these options on a line",
                "give each its own line",
            ),
        )
        for places, message, remedy in problems:
            if places:
                return message, remedy, self._option_column(options, places[0])
        return None

    def _bad_delete_all(self, options: list[tuple[str, str]]) -> LineProblem | None:
        """Return the fault of a line that begins with -D, or None."""
        names = [option for option, _ in options]
        apart = self.words[0] == "-D" and self.words[1:2] in ([], ["-k"])
        if apart and names in (["-D"], ["-D", "-k"]):
            return None
        column = self._option_column(options, min(1, len(options) - 1))
        return "-D takes only the option -k", "put the other options on their own line", column

    def rule(self, options: list[tuple[str, str]], by: str) -> Reading:
        """Return the reading of a line that adds or deletes a rule by the option `by`."""
        directories: list[str] = []
        files: list[str] = []
        for option, value in options:
            field = _PATH_FIELD.fullmatch(value) if option == "-F" else None
            path = field[2] if field else value
            if not (field or option == "-w") or not path.startswith("/"):
                continue
            directory = field[1] == "dir" if field else path.endswith("/")
            (directories if directory else files).append(path.rstrip("/") or "/")
        keys = option_keys(options)
        rule = Rule(
            text=self.reading.text,
            place=self.reading.place,
            key=keys[0] if keys else "",
            watched_directories=tuple(directories),
            watched_files=tuple(files),
            columns=self.columns,
        )
        if by in _DELETE:
            return Reading(RuleKind.DELETION, self.reading.place, rule.text, deletion=rule)
        return Reading(RuleKind.RULE, self.reading.place, rule.text, rule=rule)
