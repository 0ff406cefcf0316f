"""Ways to damage an input: bytes, words of a text, trees of JSON and XML.

Each mutator takes a random generator and an input, and returns another input.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from lxml import etree

Mutator = Callable[[random.Random, bytes], bytes]

LARGEST = 1 << 20
"""Most bytes of an input; a larger one is cut."""

_STRANGE = [
    b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf", b"\n", b"\r", b"\t", b"\\", b'"', b"'", b"\x1b[31m",
    b"{", b"}", b"[", b"]", b"<", b">", b"&", b"=", b",", b"%", b"-1", b"1e308", b"nan", b"inf",
    b"9" * 30, b"9" * 5000, b"0x", b"/" * 300, b"../" * 30, b"a" * 5000, b"[" * 600, b"{a=" * 300,
    b"\xe2\x80\xae", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"${x}", b"$(id)", b"*", b"%s", b"\x85",
]  # fmt: skip
_VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 2**64, -(2**70), 10**400, 1e308, -0.0, 5e-324,
    float("nan"), float("inf"), "", " ", "a", "\0", "\ud800", "nan", "1", "x" * 5000, "\u202e", "é",
    [], {}, [[]], [{}], {"": None}, {"a": {"b": {}}}, [None] * 50, "/", "../..", "null", "always",
]  # fmt: skip
_TOKEN = re.compile(rb"\s+|\w+|.", re.DOTALL)


def raw(generator: random.Random, data: bytes) -> bytes:
    """Change bytes, in one to six places."""
    changed = bytearray(data)
    for _ in range(generator.randrange(1, 7)):
        at = generator.randrange(len(changed) + 1)
        match generator.randrange(7):
            case 0 if at < len(changed):
                changed[at] ^= 1 << generator.randrange(8)
            case 1:
                changed[at:at] = generator.choice(_STRANGE)
            case 2:
                del changed[at : at + generator.choice((1, 2, 8, 100, len(changed)))]
            case 3:
                part = changed[at : at + generator.choice((1, 8, 60))]
                changed[at:at] = part * generator.choice((1, 2, 100))
            case 4:
                changed[at:at] = generator.randbytes(generator.randrange(1, 9))
            case 5:
                size = generator.choice((1, 2, 4, 8))
                value = generator.choice((0, 1, 1 << 7, (1 << (8 * size)) - 1, 1 << (8 * size - 1)))
                changed[at : at + size] = value.to_bytes(size, "little")
            case _:
                source = generator.randrange(len(changed) + 1)
                changed[at : at + 8] = changed[source : source + 8]
    return bytes(changed[:LARGEST])


def words(extra: Sequence[bytes] = ()) -> Mutator:
    """Return a mutator of text: words and marks are exchanged, duplicated, deleted and inserted."""

    def mutate(generator: random.Random, data: bytes) -> bytes:
        tokens = _TOKEN.findall(data)
        for _ in range(generator.randrange(1, 7)):
            at = generator.randrange(len(tokens) + 1)
            match generator.randrange(6):
                case 0 | 1:
                    tokens[at : at + 1] = [generator.choice(tokens or [b""])]
                case 2:
                    del tokens[at : at + generator.choice((1, 1, 3, 20))]
                case 3:
                    part = tokens[at : at + generator.choice((1, 5, 40))]
                    tokens[at:at] = part * generator.choice((1, 1, 2, 80))
                case 4:
                    tokens.insert(at, generator.choice(_STRANGE))
                case _:
                    tokens.insert(at, generator.choice(extra or _STRANGE))
        return b"".join(tokens)[:LARGEST]

    return mutate


def lines(generator: random.Random, data: bytes) -> bytes:
    """Exchange, duplicate and delete lines."""
    parts = data.splitlines(keepends=True)
    for _ in range(generator.randrange(1, 5)):
        at, source = (generator.randrange(len(parts) + 1) for _ in range(2))
        match generator.randrange(3):
            case 0:
                parts[at:at] = parts[source : source + generator.choice((1, 3, 30))]
            case 1:
                del parts[at : at + generator.choice((1, 3, 30))]
            case _:
                parts[at : at + 1] = parts[source : source + 1]
    return b"".join(parts)[:LARGEST]


def tree(generator: random.Random, data: bytes) -> bytes:
    """Exchange, delete, duplicate and nest JSON values; other text loses its structure."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return raw(generator, data)
    for _ in range(generator.randrange(1, 5)):
        value = changed_tree(generator, value)
    try:
        return json.dumps(value).encode(errors="surrogatepass")[:LARGEST]
    except (ValueError, RecursionError, MemoryError):  # nested a few times, it may outgrow all
        return data


def changed_tree(  # noqa: PLR0911  (a return for each kind of change)
    generator: random.Random,
    value: Any,  # noqa: ANN401  (JSON's values)
) -> Any:  # noqa: ANN401
    """Change a value, or one in it."""
    if isinstance(value, dict) and value and generator.random() < 0.85:  # noqa: PLR2004
        key = generator.choice(list(value))
        kind = generator.randrange(8)
        if kind == 0:
            return {one: inner for one, inner in value.items() if one != key}
        if kind == 1:
            return {**value, str(generator.choice(_VALUES)): value[key]}
        return {**value, key: changed_tree(generator, value[key])}
    if isinstance(value, list) and value and generator.random() < 0.85:  # noqa: PLR2004
        at = generator.randrange(len(value))
        kind = generator.randrange(8)
        if kind == 0:
            return value[:at] + value[at + 1 :]
        if kind == 1:
            return value + [value[at]] * generator.choice((1, 1, 300))
        return [*value[:at], changed_tree(generator, value[at]), *value[at + 1 :]]
    if generator.randrange(20) == 0:
        for _ in range(generator.choice((1, 50, 400))):
            value = [value]
        return value
    if isinstance(value, str) and value and generator.random() < 0.5:  # noqa: PLR2004
        return raw(generator, value.encode(errors="surrogatepass")).decode(errors="replace")
    return generator.choice(_VALUES)


def elements(generator: random.Random, data: bytes) -> bytes:
    """Move, delete, duplicate and change XML elements, their attributes and texts."""
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False))
    except etree.XMLSyntaxError:
        return raw(generator, data)
    every = list(root.iter(etree.Element))
    for _ in range(generator.randrange(1, 6)):
        one, other = generator.choice(every), generator.choice(every)
        _change_element(generator, one, other)
    return bytes(etree.tostring(root))[:LARGEST]


def _change_element(generator: random.Random, one: etree._Element, other: etree._Element) -> None:
    parent = one.getparent()
    match generator.randrange(6):
        case 0 if parent is not None:
            parent.remove(one)
        case 1 if parent is not None:
            parent.append(copy.deepcopy(one))
        case 2 if len(etree.tostring(other)) < 1 << 16:
            one.append(copy.deepcopy(other))
        case 3 if one.attrib:
            name = generator.choice(list(one.attrib))
            values = list(other.attrib.values()) or ["", "true", "x" * 5000]
            one.set(name, generator.choice(values))
        case 4:
            one.tag = other.tag
        case _:
            text = (one.text or "").encode()
            changed = raw(generator, text).decode(errors="replace")
            one.text = re.sub(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]", "", changed)
