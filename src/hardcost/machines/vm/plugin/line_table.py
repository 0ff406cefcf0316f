"""From which line of the source each instruction of a kernel's function comes: its DWARF."""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from elftools.common.exceptions import DWARFError, ELFError
from elftools.elf.elffile import ELFFile

from hardcost.errors import MachineError

_ALLOCATED = 2  # a section that is in memory: SHF_ALLOC of elf(5)
# The hash of a whole file, debug data and all: a note of the kernel, and of the code that it lends.
_IDENTITY = re.compile(re.escape(struct.pack("<III4s", 4, 20, 3, b"GNU")) + b".{20}", re.DOTALL)
_NO_CODE = "SHT_NOBITS"
_DWARF_5 = 5  # from which on files are counted from 0
_LONGEST = 200  # characters of a file's name


@dataclass(frozen=True)
class AddressRange:
    """From `address` on, up to the next row's, code belongs to a line of a file; 0: to none."""

    address: int
    file: str
    line: int


def code_digest(vmlinux: Path) -> str:
    """Return a hash of all that a kernel's image has in memory, but for the hashes of files."""
    whole = hashlib.sha256()
    with _open_elf(vmlinux) as elf:
        for section in elf.iter_sections():
            if section["sh_flags"] & _ALLOCATED:
                whole.update(f"{section.name} {section['sh_addr']} {section['sh_size']}\n".encode())
                whole.update(
                    b"" if section["sh_type"] == _NO_CODE else _IDENTITY.sub(b"", section.data())
                )
    return whole.hexdigest()


def rows(vmlinux: Path, start: int, end: int) -> tuple[AddressRange, ...]:
    """Return the lines of the code from `start` to `end`, in the order of addresses.

    Raises:
        MachineError: The image's debug data have none, or make no sense.
    """
    with _open_elf(vmlinux) as elf:
        dwarf = elf.get_dwarf_info()
        ranges = dwarf.get_aranges()
        unit_at = None if ranges is None else ranges.cu_offset_at_addr(start)
        if unit_at is None:
            return ()
        unit = dwarf.get_CU_at(unit_at)
        program = dwarf.line_program_for_CU(unit)
        return () if program is None else tuple(_rows_between(program, start, end))


def _rows_between(program: Any, start: int, end: int) -> Iterator[AddressRange]:  # noqa: ANN401  (untyped)
    """Yield the rows of a part of the code, the first of them at its start."""
    states = [entry.state for entry in program.get_entries() if entry.state is not None]
    found: dict[int, AddressRange] = {}
    for one, following in pairwise(states):
        # Of several rows of one address the last holds; an end of a sequence is no row.
        at, until = max(one.address, start), min(following.address, end)
        if at < until and not one.end_sequence:
            found[at] = AddressRange(at, _file(program.header, one.file), one.line or 0)
    previous = None
    for at in sorted(found):
        row = found[at]
        if previous is None or (row.file, row.line) != (previous.file, previous.line):
            yield row
        previous = row


def _file(header: Any, number: int) -> str:  # noqa: ANN401  (untyped)
    index = number if header.version >= _DWARF_5 else number - 1
    entry = header.file_entry[index]
    name = entry.name.decode(errors="replace")
    folders = header.include_directory
    at = entry.dir_index if header.version >= _DWARF_5 else entry.dir_index - 1
    folder = folders[at].decode(errors="replace") if 0 <= at < len(folders) else ""
    path = name if name.startswith("/") or not folder else f"{folder}/{name}"
    return "".join(each if each.isprintable() else "?" for each in path)[-_LONGEST:]


@contextmanager
def _open_elf(vmlinux: Path) -> Iterator[ELFFile]:
    """Give an image's ELF file."""
    try:
        with vmlinux.open("rb") as file:
            yield ELFFile(file)
    except (OSError, ELFError, DWARFError, ValueError, LookupError, AttributeError) as error:
        raise MachineError(
            f"the debug data of the kernel {vmlinux} can't be used: {error}"
        ) from error
