"""An ELF file's facts about its own code: functions, and the addresses of certain bytes.

Source of the layout: elf(5). What a user brings may be anything, so that whatever lies outside of
the file counts as not there. pyelftools, which `machines/vm/plugin/line_table.py` uses, is slower:
for the 165,000 symbols of a library of 146 MiB (librustc_driver) it takes 4.3 s of processor time,
this 0.9 s.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

# Numbers of elf.h.
_PT_LOAD, _EXECUTABLE = 1, 1
_SHT_SYMTAB, _SHT_NOTE, _SHT_DYNSYM = 2, 7, 11
_STT_FUNC, _STT_GNU_IFUNC = 2, 10
_NO_TYPE = 0  # STT_NOTYPE: functions written in assembly may have no type
_BUILD_ID = b"\x03\0\0\0GNU\0"  # a note's type and owner
_NOTE_HEAD = 16  # bytes of a note before what it says, with the sizes of owner and content
_ELF_64 = b"\x7fELF\x02\x01"
_SYMBOL = struct.Struct("<IBBHQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_PROGRAM = struct.Struct("<IIQQQQQQ")


@dataclass(frozen=True)
class Function:
    """A function: where it begins as linked, how many bytes it has, and its name."""

    address: int
    size: int
    name: str


def functions(content: bytes) -> list[Function]:
    """Return the functions that a program's tables name, in the order of their addresses.

    Of several names of one place the plainest is taken. One whose size is not said ends where the
    next begins. `content` may be a debug file, which has symbols but no code.
    """
    try:
        found = list(_functions(content))
    except struct.error:
        return []
    plainest: dict[int, Function] = {}
    for one in sorted(found, key=_plainness):
        plainest.setdefault(one.address, one)
    ordered = [plainest[address] for address in sorted(plainest)]
    ends = [*(one.address for one in ordered[1:]), ordered[-1].address + 1] if ordered else []
    return [
        Function(one.address, one.size or end - one.address, one.name)
        for one, end in zip(ordered, ends, strict=True)
    ]


def _plainness(one: Function) -> tuple[bool, int, int, str]:
    bare = one.name.lstrip("_")
    return not one.size, len(one.name) - len(bare), len(one.name), one.name


def _functions(content: bytes) -> Iterator[Function]:
    sections = list(_sections(content))
    wanted = [one for one in sections if one[1] == _SHT_SYMTAB] or [
        one for one in sections if one[1] == _SHT_DYNSYM
    ]
    code = [(start, start + size) for start, _, _, size in _executable(content)]
    for _, _, _, _, start, size, link, *_ in wanted:
        if link >= len(sections):
            continue
        names = sections[link][4]
        for at in range(start, min(start + size, len(content) - _SYMBOL.size + 1), _SYMBOL.size):
            name, kind, _, _, value, length = _SYMBOL.unpack_from(content, at)
            if kind & 15 not in {_STT_FUNC, _STT_GNU_IFUNC, _NO_TYPE}:
                continue
            if any(begin <= value < end for begin, end in code):
                text = _text(content, names + name)
                if text:
                    yield Function(value, length, text)


def _text(content: bytes, at: int) -> str:
    end = content.find(b"\0", at, at + 1000)
    return content[at:end].decode(errors="replace") if end > at else ""


def _sections(content: bytes) -> Iterator[tuple[int, ...]]:
    if not content.startswith(_ELF_64):
        return
    (start,) = struct.unpack_from("<Q", content, 0x28)
    (count,) = struct.unpack_from("<H", content, 0x3C)
    for number in range(count):
        yield _SECTION.unpack_from(content, start + number * _SECTION.size)


def _executable(content: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield the executable segments: address, offset and size in the file, size in memory."""
    for kind, flags, offset, address, _, size, in_memory, _ in _segments(content):
        if kind == _PT_LOAD and flags & _EXECUTABLE:
            yield address, offset, size, in_memory


def _segments(content: bytes) -> Iterator[tuple[int, ...]]:
    if not content.startswith(_ELF_64):
        return
    (start,) = struct.unpack_from("<Q", content, 0x20)
    (count,) = struct.unpack_from("<H", content, 0x38)
    for number in range(count):
        yield _PROGRAM.unpack_from(content, start + number * _PROGRAM.size)


def build_id(content: bytes) -> str:
    """Return a file's build ID in hexadecimal, as its linker noted it; empty if there is none."""
    try:
        for _, kind, _, _, start, size, *_ in _sections(content):
            note = content[start : start + size]
            if kind == _SHT_NOTE and note[8:_NOTE_HEAD] == _BUILD_ID:
                (length,) = struct.unpack_from("<I", note, 4)
                return note[_NOTE_HEAD : _NOTE_HEAD + length].hex()
    except struct.error:
        pass
    return ""


def places_of(content: bytes, wanted: bytes) -> list[int]:
    """Return the addresses at which a program's code has these bytes, in instructions or across."""
    return [
        address + found.start()
        for address, offset, size, _ in _executable(content)
        for found in re.finditer(re.escape(wanted), content[offset : offset + size])
    ]
