"""The location of each value in a TOML text: tomllib reads the values but no locations."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left

KeyPath = tuple[str | int, ...]
"""The path to a value: keys of tables and indices of arrays, from the top."""

_SKIPPED = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r'[ \t]*("(?:\\.|[^"\\])*"|\'[^\']*\'|[A-Za-z0-9_-]+)[ \t]*')
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\])*"|\'[^\']*\'', re.DOTALL
)
# Strings that don't end are taken as far as they go, so that each character is looked at once.
_PART = r"""(?:"(?:\\.|[^"\\\n])*+"?|'[^'\n]*+'?|[A-Za-z0-9_-]++)"""
_KEYS = re.compile(  # comments and long strings are skipped; a short string may be a key
    r"""\#[^\n]*+|\"{3}(?:\\.|[^\\])*?(?:"{3,5}|\Z)|'{3}.*?(?:'{3,5}|\Z)"""
    rf"""|(?P<key>{_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)""",
    re.DOTALL,
)
_PARTS = re.compile(_PART)
_PLAIN = re.compile(r"[^,\]}#\r\n]*")


def locate(text: str) -> dict[KeyPath, int]:
    """Return the line, from 1, of each table, key and element of an array.

    `text` must be TOML that tomllib reads without an error.
    """
    return _Scanner(text).scan()


def deep_key(text: str, most: int) -> int | None:
    """Return the line, from 1, of the first dotted key of more than `most` parts; None without one.

    It reads any text: tomllib takes memory that grows with the square of a key's parts.
    """
    for match in _KEYS.finditer(text):
        key = match["key"]
        if key is not None and key.count(".") >= most and len(_PARTS.findall(key)) > most:
            return text.count("\n", 0, match.start()) + 1
    return None


def nearest(lines: dict[KeyPath, int], path: KeyPath) -> int | None:
    """Return the line of the value at `path`, or of what it would be part of; None at the top."""
    dotted = tuple(
        part
        for word in path
        for part in (word.split(".") if isinstance(word, str) and (word,) not in lines else (word,))
    )
    for way in (path, dotted):
        if way in lines:
            return lines[way]
    return nearest(lines, path[:-1]) if path else None


class _Scanner:
    """Scans a text once from start to end, and records where values begin."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self._lines: dict[KeyPath, int] = {}
        self._counts: dict[KeyPath, int] = {}

    def scan(self) -> dict[KeyPath, int]:
        """Return the line of each path."""
        table: KeyPath = ()
        while self._skip() < len(self._text):
            if self._at("["):
                table = self._header()
            else:
                self._pair(table)
        return self._lines

    def _skip(self) -> int:
        """Step over white space and comments, and return the new position."""
        return self._step(_SKIPPED)

    def _step(self, pattern: re.Pattern[str]) -> int:
        match = pattern.match(self._text, self._position)
        self._position = match.end() if match else self._position
        return self._position

    def _at(self, mark: str) -> bool:
        return self._text.startswith(mark, self._position)

    def _note(self, path: KeyPath) -> None:
        """Record that `path` begins here, unless it began earlier."""
        self._lines.setdefault(path, bisect_left(self._ends, self._position) + 1)

    def _keys(self) -> list[str]:
        """Step over a dotted key and return its parts."""
        parts: list[str] = []
        while match := _KEY.match(self._text, self._position):
            self._position = match.end()
            written = match[1]
            parts.append(tomllib.loads(f"k = {written}")["k"] if written[0] in "\"'" else written)
            if not self._at("."):
                break
            self._position += 1
        return parts

    def _header(self) -> KeyPath:
        """Step over a table's header and return the table's path."""
        start, brackets = self._position, 2 if self._at("[[") else 1
        self._position += brackets
        keys = self._keys()
        end, self._position = self._position + brackets, start
        path: KeyPath = ()
        for key in keys[:-1]:
            path = self._last((*path, key))
            self._note(path)
        path = (*path, keys[-1])
        self._note(path)
        if brackets == 2:  # noqa: PLR2004  ([[two brackets]] begin an element of an array)
            self._counts[path] = self._counts.get(path, -1) + 1
        path = self._last(path)
        self._note(path)
        self._position = end
        return path

    def _last(self, path: KeyPath) -> KeyPath:
        """Return the path of the last element if `path` is an array of tables."""
        return (*path, self._counts[path]) if path in self._counts else path

    def _pair(self, table: KeyPath) -> None:
        """Step over `key = value`."""
        start = self._position
        keys = self._keys()
        end, self._position = self._position, start
        for length in range(1, len(keys) + 1):
            self._note((*table, *keys[:length]))
        self._position = end + 1
        self._step(re.compile(r"[ \t]*"))
        self._value((*table, *keys))

    def _value(self, path: KeyPath) -> None:
        """Step over a value."""
        if self._at("["):
            self._elements(path, "]")
        elif self._at("{"):
            self._elements(path, "}")
        elif self._at('"') or self._at("'"):
            self._step(_STRING)
        else:
            self._step(_PLAIN)

    def _elements(self, path: KeyPath, close: str) -> None:
        """Step over an array or an inline table."""
        self._position += 1
        index = 0
        while self._skip() < len(self._text) and not self._at(close):
            if close == "}":
                self._pair(path)
            else:
                self._note((*path, index))
                self._value((*path, index))
            index += 1
            self._skip()
            if self._at(","):
                self._position += 1
        self._position += 1
