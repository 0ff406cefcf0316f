"""TOML written from entries, whole or in pieces, so that any part of a file is a file too."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import tomli_w

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class TomlEntry:
    """A value of a file, by the keys that lead to it; an `element` is added to an array there.

    `of` names what the value belongs to: it is written if one of these is wanted, or always if
    there are none.
    """

    path: tuple[str, ...]
    value: Any
    of: tuple[str, ...] = ()
    element: bool = False


class TomlPiece(NamedTuple):
    """A text that is wanted if one of the named controls is, or always if there are no names."""

    text: str
    controls: tuple[str, ...] = ()


def tables(entries: Iterable[TomlEntry]) -> dict[str, Any]:
    """Return the values of a whole file."""
    found: dict[str, Any] = {}
    for one in entries:
        holder = found
        for key in one.path[:-1]:
            holder = holder.setdefault(key, {})
        if one.element:
            holder.setdefault(one.path[-1], []).append(one.value)
        else:
            holder[one.path[-1]] = one.value
    return found


def pieces(entries: Iterable[TomlEntry]) -> tuple[TomlPiece, ...]:
    """Return a file in pieces, in order; the texts of those that are wanted, joined, are TOML."""
    by_table: dict[tuple[str, ...], list[TomlEntry]] = {(): []}
    for one in entries:
        by_table.setdefault(one.path[:-1], []).append(one)
    return tuple(piece for path, own in by_table.items() for piece in _table(path, own))


def joined(parts: Iterable[TomlPiece], wanted: Collection[str]) -> str:
    """Return the file of the `wanted` controls, given by their names."""
    return "".join(
        text for text, names in parts if not names or any(name in wanted for name in names)
    )


def _table(path: tuple[str, ...], entries: Sequence[TomlEntry]) -> Iterator[TomlPiece]:
    if path:
        yield TomlPiece(f"\n[{'.'.join(map(_key, path))}]\n", _names(entries))
    by_key: dict[str, list[TomlEntry]] = {}
    for one in entries:
        by_key.setdefault(one.path[-1], []).append(one)
    for key, own in by_key.items():
        if not own[0].element:
            yield from (
                TomlPiece(f"{_key(key)} = {_value(one.value)}\n", one.of) for one in own[-1:]
            )
            continue
        names = _names(own)
        yield TomlPiece(f"{_key(key)} = [\n", names)
        yield from (TomlPiece(f"    {_value(one.value)},\n", one.of) for one in own)
        yield TomlPiece("]\n", names)


def _names(entries: Sequence[TomlEntry]) -> tuple[str, ...]:
    """Return the names that the entries belong to; none if one is always written."""
    if not all(one.of for one in entries):
        return ()
    return tuple(dict.fromkeys(name for one in entries for name in one.of))


def _key(text: str) -> str:
    return text if _BARE.fullmatch(text) else _value(text)


def _value(value: Any) -> str:  # noqa: ANN401  (TOML's values)
    """Return a value as TOML writes it."""
    return tomli_w.dumps({"value": value}).removeprefix("value = ").rstrip("\n")
