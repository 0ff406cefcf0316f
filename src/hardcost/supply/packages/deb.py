"""Debian's packages as files: what one says of itself, and its content, without dpkg.

The format is deb(5): an ar archive of a version, a packed tar with the control file, and one with
the files. It is read in the process that `supply/packages/unpack.py` starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from hardcost import decompress
from hardcost.decompress import DamagedError
from hardcost.supply.packages.archive import Member, members, write

_MAGIC = b"!<arch>\n"
_ARCHITECTURES = frozenset({"amd64", "all"})
_CONTROL, _DATA = "control.tar", "data.tar"
_LARGEST_CONTROL = 1 << 20
_AT_ONCE = 1 << 18
_FIELD = re.compile(r"^([A-Za-z0-9-]+):[ \t]*(.*)$", re.MULTILINE)


def unpack(package: BinaryIO, folder: Path, wanted: re.Pattern[str] | None) -> Mapping[str, str]:
    """Write what a package holds below a folder, as `archive.write` does.

    Returns the one-line fields of what it says of itself, such as `Version`. A kernel's, of which
    only some files are wanted, has to be for guests.

    Raises:
        DamagedError: It is no package, is damaged, is for another architecture, or has a path that
            leads outside.
        OSError: It can't be written.
    """
    if package.read(len(_MAGIC)) != _MAGIC:
        raise DamagedError("it is no package of Debian's")
    package.seek(0)
    fields: Mapping[str, str] | None = None
    for member in members(iter(lambda: package.read(_AT_ONCE), b""), "ar"):
        if _is_part(member, _CONTROL):
            fields = _fields(_members(member))
        elif _is_part(member, _DATA):
            if fields is None:
                break
            architecture = fields.get("Architecture")
            if wanted is not None and architecture not in _ARCHITECTURES:
                raise DamagedError(f"it is for {architecture}, and guests are amd64")
            write(_members(member), folder, wanted)
            return fields
    raise DamagedError(f"it has no {_CONTROL if fields is None else _DATA}")


def _is_part(member: Member, name: str) -> bool:
    return member.name == name or member.name.startswith(f"{name}.")


def _members(part: Member) -> Iterator[Member]:
    return members(decompress.unpack_if_packed(part.blocks()), "tar")


def _fields(found: Iterator[Member]) -> Mapping[str, str]:
    for member in found:
        if PurePosixPath(member.name).name == "control" and member.kind == "file":
            text = b""
            for block in member.blocks():
                text += block
                if len(text) > _LARGEST_CONTROL:
                    raise DamagedError("what it says of itself is larger than 1 MiB")
            return dict(_FIELD.findall(text.decode(errors="replace")))
    raise DamagedError("it does not say what it is")
