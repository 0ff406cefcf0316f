"""Making ext4 file systems out of files, without mounting anything.

Whatever would differ between two makings of the same tree is fixed: ids, hash seed, times.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines import folders
from hardcost.machines.images import contents
from hardcost.machines.images.namespace import as_root
from hardcost.machines.process import follow, run

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hardcost.machines.images.contents import Entry

EPOCH = 1767225600  # 2026-01-01, when every guest's clock starts; no file is newer
REMEDY = "apt-get install e2fsprogs"
_UUID = "68617264-636f-7374-8000-000000000001"
_HASH_SEED = "68617264-636f-7374-8000-000000000002"
# What Debian 12 sets by default, without checksums of metadata: a small kernel works them out by
# tables, and each change of a file would cost far more than on a machine that has them in hardware.
_FEATURES = (
    "none,has_journal,ext_attr,resize_inode,dir_index,filetype,extent,64bit,flex_bg,sparse_super,"
    "large_file,huge_file,dir_nlink,extra_isize"
)
_EXTENDED = f"lazy_itable_init=0,lazy_journal_init=0,nodiscard,hash_seed={_HASH_SEED}"
_ENVIRONMENT = {"E2FSPROGS_FAKE_TIME": str(EPOCH), "MKE2FS_CONFIG": os.devnull}
_HARMLESS = re.compile(r"debugfs[: ]|Allocated inode: ")
_BLOCK = 4096
_LIMIT_SECONDS = 1800.0
_CHUNK = 1 << 20


def make(image: Path, size: int, files: Iterable[Entry] = (), *, journal: bool = True) -> None:
    """Make an image of `size` bytes that holds `files`, with their owners and attributes.

    No file in it was changed after a guest's clock starts: with the usual `relatime`, each reading
    of a file that was changed in the future would be written down.

    Raises:
        MachineError: They do not fit, or can't be read, or e2fsprogs is missing.
    """
    features = _FEATURES if journal else _FEATURES.replace("has_journal,", "^has_journal,")
    image.unlink(missing_ok=True)
    words: list[str | Path] = ["mke2fs", "-q", "-F", "-t", "ext4", "-b", str(_BLOCK)]
    words += ["-I", "256", "-i", "8192", "-O", features, "-U", _UUID, "-E", _EXTENDED]
    words += ["-J", f"size={max(4, min(64, size >> 25))}"] if journal else []
    words += ["--", image, f"{size >> 10}k"]
    with image.open("wb") as file:
        file.truncate(size)
    run(words, remedy=REMEDY, limit_seconds=_LIMIT_SECONDS, environment=_ENVIRONMENT)
    values = image.with_suffix(".values")
    values.mkdir()
    change(image, contents.commands(files, EPOCH, values), image.with_suffix(".script"))
    shutil.rmtree(values)
    checked: list[str | Path] = ["e2fsck", "-f", "-n", "--", image]
    run(checked, remedy=REMEDY, limit_seconds=_LIMIT_SECONDS, environment=_ENVIRONMENT)


def change(image: str | Path, commands: Iterable[str], script: Path) -> None:
    """Have debugfs carry out `commands` on an image, or on what `inside` names in it.

    `script` is a file for them, removed again.

    Raises:
        MachineError: One of them failed, or debugfs is missing.
    """
    script.write_text("".join(f"{command}\n" for command in commands), encoding="utf-8")
    wrong: list[str] = []

    def heard(line: str | None) -> None:
        # It ends with 0 whatever happened, repeats each command, and adds what went wrong.
        if line and _HARMLESS.match(line) is None:
            wrong.append(line)

    words = as_root(["debugfs", "-w", "-f", script, "--", image])
    follow(words, heard, remedy=REMEDY, environment=_ENVIRONMENT)
    if wrong:
        raise MachineError(f"debugfs could not change {image}: {wrong[0]}")
    script.unlink()


def inside(image: Path, start: int) -> str:
    """Return what e2fsprogs call the file system that begins at byte `start` of an image."""
    return f"{image}?offset={start}" if start else str(image)


def text_of(file_system: str, path: str) -> str:
    """Return the text of a file in a file system, empty where it is not there."""
    return run(["debugfs", "-R", f"cat {contents.quoted(path)}", "--", file_system], remedy=REMEDY)


def is_there(file_system: str, path: str) -> bool:
    """Say whether a file system has a file."""
    return bool(
        run(["debugfs", "-R", f"stat {contents.quoted(path)}", "--", file_system], remedy=REMEDY)
    )


def content_digest(image: Path) -> str:
    """Return the SHA-256 of what is in an image, in hex; where it is all zeros has no part."""
    total, zeros = hashlib.sha256(), bytes(_BLOCK)
    with image.open("rb") as file:
        for start, end in folders.written(file.fileno(), _BLOCK):
            file.seek(start)
            for place in range(start, end, _CHUNK):
                data = file.read(min(_CHUNK, end - place))
                for offset in range(0, len(data), _BLOCK):
                    block = data[offset : offset + _BLOCK]
                    if block != zeros:
                        total.update((place + offset).to_bytes(8, "big") + block)
    return total.hexdigest()
