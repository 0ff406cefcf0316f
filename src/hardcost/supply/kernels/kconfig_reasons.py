"""Why an option did not come out: the dependencies in a source's Kconfig files.

Kconfig silently drops an option with an unmet dependency. This module reads enough of the language
to name that dependency: entries, `depends on`, `select`, and the conditions of the menus, choices
and `if` blocks around them. Conditions that need the compiler, `$(…)`, are left undecided.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hardcost.supply.kernels.config import NOT_SET, value
from hardcost.supply.kernels.kconfig_expressions import holds, names, parts

_ENTRY = re.compile(r"(?:menu)?config\s+(\w+)")
_DEPENDS = re.compile(r"depends\s+on\s+(.*)")
_SELECT = re.compile(r"select\s+(\w+)(?:\s+if\s+(.*))?")
_SOURCE = re.compile(r'source\s+"([^"]+)"')
_OPENS = re.compile(r"(menu|choice|if)\b\s*(.*)")
_CLOSES = re.compile(r"end(?:menu|choice|if)\b")
_ENDS_ENTRY = re.compile(r"(?:menuconfig|config|menu|choice|if|source|comment|mainmenu|end\w+)\b")
_PROMPT = re.compile(r'(?:bool|tristate|int|hex|string|prompt)\s+"')
_ARCHITECTURE = "x86"
_DEEPEST = 40  # files that include each other; Linux has about six


@dataclass
class _Symbol:
    """An option: a list of dependencies for each definition; all of one must hold."""

    definitions: list[list[str]] = field(default_factory=list)
    prompts: bool = False
    choice: int | None = None


@dataclass
class Kconfig:
    """The options of a source, and which select which under what condition."""

    symbols: dict[str, _Symbol] = field(default_factory=dict)
    selects: defaultdict[str, list[tuple[str, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def why(self, name: str, wanted: str, config: Mapping[str, str]) -> str:
        """Return why `name` is not `wanted` in `config`, which was resolved with it requested."""
        symbol = self.symbols.get(name)
        if symbol is None:
            close = difflib.get_close_matches(name, self.symbols, n=1)
            meant = f"; did you mean {close[0]}?" if close else ""
            return f"this source has no option of that name{meant}"
        if wanted == NOT_SET:
            return self._why_set(name, config)
        missing = self.missing(name, config)
        if missing:
            states = ", ".join(
                f"{part} is {_state(value(config, part))}" for part in dict.fromkeys(names(missing))
            )
            return f"it depends on {' && '.join(missing)}, and {states}"
        if not symbol.prompts:
            return "it can't be set by hand: others select it"
        if symbol.choice is not None:
            other = self._chosen_symbol(symbol.choice, config)
            return f"it is one of a choice, and {other or 'another'} was chosen"
        return f"its value is {value(config, name)!r}: check that {wanted!r} is a valid value"

    def missing(self, name: str, config: Mapping[str, str]) -> list[str]:
        """Return the dependencies of `name` that don't hold in `config`.

        If it is defined several times, those of the definition with the fewest missing.
        """
        symbol = self.symbols.get(name)
        if symbol is None:
            return []
        lacking = [
            [part for depends in definition for part in parts(depends) if not holds(part, config)]
            for definition in symbol.definitions
        ]
        return min(lacking, key=len, default=[])

    def selectors(self, name: str, config: Mapping[str, str]) -> list[str]:
        """Return the options that are set in `config` and select `name`."""
        return [
            by
            for by, condition in self.selects[name]
            if value(config, by) != NOT_SET and holds(condition, config)
        ]

    def _why_set(self, name: str, config: Mapping[str, str]) -> str:
        by = self.selectors(name, config)
        if by:
            return f"{', '.join(by)} select{'s' if len(by) == 1 else ''} it"
        if not self.symbols[name].prompts:
            return "it can't be set by hand: it follows from others"
        if not any(depends for depends in self.symbols[name].definitions):
            return "it can't be switched off in this source"
        return "its own default sets it, or it can't be switched off with the other options"

    def _chosen_symbol(self, choice: int, config: Mapping[str, str]) -> str | None:
        for name, symbol in self.symbols.items():
            if symbol.choice == choice and value(config, name) == "y":
                return name
        return None


def read(folder: Path) -> Kconfig:
    """Return the contents of a source's Kconfig files, from its topmost one on."""
    found = Kconfig()
    _Reader(folder, found).file("Kconfig", [], 0)
    return found


@dataclass
class _Block:
    """An open menu, choice or `if`, or the whole file; `choice` numbers the choices."""

    conditions: list[str]
    choice: int | None = None


@dataclass
class _Entry:
    """The entry whose lines are being read."""

    name: str
    depends: list[str]


class _Reader:
    """Follows the Kconfig files of a source."""

    def __init__(self, root: Path, into: Kconfig) -> None:
        self._root = root
        self._into = into
        self._choices = 0

    def file(self, name: str, around: list[str], depth: int) -> None:
        """Read one file; `around` are the conditions under which it is included."""
        name = name.replace("$(SRCARCH)", _ARCHITECTURE).replace("$SRCARCH", _ARCHITECTURE)
        try:
            text = (self._root / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        blocks = [_Block(list(around))]
        entry: _Entry | None = None
        for line in _logical(text):
            if _ENDS_ENTRY.match(line):
                entry = None
            if named := _ENTRY.fullmatch(line):
                entry = self._define(named[1], blocks)
            elif source := _SOURCE.match(line):
                if depth < _DEEPEST:
                    self.file(source[1], _conditions(blocks), depth + 1)
            elif not self._bracket(line, blocks):
                self._property(line, entry, blocks[-1])

    def _define(self, name: str, blocks: list[_Block]) -> _Entry:
        """Begin an entry; its dependencies are filled in as its lines are read."""
        symbol = self._into.symbols.setdefault(name, _Symbol())
        if blocks[-1].choice is not None:
            symbol.choice = blocks[-1].choice
        depends = _conditions(blocks)
        symbol.definitions.append(depends)
        return _Entry(name, depends)

    def _bracket(self, line: str, blocks: list[_Block]) -> bool:
        """Open or close a block; say whether the line does either."""
        if _CLOSES.match(line):
            if len(blocks) > 1:  # the first is the file itself
                blocks.pop()
            return True
        opens = _OPENS.fullmatch(line)
        if opens is None:
            return False
        self._choices += opens[1] == "choice"
        blocks.append(
            _Block(
                [opens[2]] if opens[1] == "if" else [],
                self._choices if opens[1] == "choice" else None,
            )
        )
        return True

    def _property(self, line: str, entry: _Entry | None, block: _Block) -> None:
        """Process a line of an entry, or of the enclosing block if there is no entry."""
        if depends := _DEPENDS.match(line):
            (block.conditions if entry is None else entry.depends).append(depends[1])
        elif entry is None:
            return
        elif selected := _SELECT.match(line):
            self._into.selects[selected[1]].append((entry.name, selected[2] or ""))
        elif _PROMPT.match(line):
            self._into.symbols[entry.name].prompts = True


def _conditions(blocks: Iterable[_Block]) -> list[str]:
    return [condition for block in blocks for condition in block.conditions]


def _logical(text: str) -> Iterable[str]:
    """Return the lines of a Kconfig file, joined at backslashes, without help texts and comments.

    A help text ends at the first line that is indented less than its own first one.
    """
    help_indent: int | None = None
    in_help = False
    for line in text.replace("\\\n", " ").expandtabs().splitlines():
        stripped = line.strip()
        indent = len(line) - len(line.lstrip())
        if in_help:
            if not stripped:
                continue
            if help_indent is None and indent:
                help_indent = indent
            if help_indent is not None and indent >= help_indent:
                continue
            in_help = False
        if stripped in {"help", "---help---"}:
            in_help, help_indent = True, None
        elif stripped and not stripped.startswith("#"):
            yield re.sub(r"\s+#.*$", "", stripped)


def _state(found: str) -> str:
    return "not set" if found == NOT_SET else found
