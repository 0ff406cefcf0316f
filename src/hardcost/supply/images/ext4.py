"""Making ext4 file systems from files, without mounting anything.

Whatever could differ between two builds of the same tree is fixed: ids, hash seed, times.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.install_command import install
from hardcost.host.process import follow, run
from hardcost.supply.cache import folders
from hardcost.supply.images import ext4_contents
from hardcost.supply.images.ext4_contents import ImageFile
from hardcost.supply.images.user_namespace import as_root

EPOCH = 1767225600  # 2026-01-01, when every guest's clock starts; no file is newer
REMEDY = install("e2fsprogs")
_UUID = "68617264-636f-7374-8000-000000000001"
_HASH_SEED = "68617264-636f-7374-8000-000000000002"
# Debian 12's defaults, without metadata checksums: a small kernel computes them from tables, so
# each change of a file would cost far more than on a machine that computes them in hardware.
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


def make(image: Path, size: int, files: Iterable[ImageFile] = (), *, journal: bool = True) -> None:
    """Make an image of `size` bytes that holds `files`, with their owners and attributes.

    No file in it is newer than the start of a guest's clock: with the usual `relatime`, each read
    of a file changed in the future would be recorded.

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
    change(image, ext4_contents.commands(files, EPOCH, values), image.with_suffix(".script"))
    shutil.rmtree(values)
    checked: list[str | Path] = ["e2fsck", "-f", "-n", "--", image]
    run(checked, remedy=REMEDY, limit_seconds=_LIMIT_SECONDS, environment=_ENVIRONMENT)


def change(image: str | Path, commands: Iterable[str], script: Path) -> None:
    """Have debugfs run `commands` on an image, or on a file system named by `name_at_offset`.

    `script` is a temporary file for them.

    Raises:
        MachineError: One of them failed, or debugfs is missing.
    """
    script.write_text("".join(f"{command}\n" for command in commands), encoding="utf-8")
    wrong: list[str] = []

    def hear_line(line: str | None) -> None:
        # It always exits with 0, repeats each command, and adds what went wrong.
        if line and not wrong and _HARMLESS.match(line) is None:
            wrong.append(line)

    words = as_root(["debugfs", "-w", "-f", script, "--", image])
    follow(words, hear_line, remedy=REMEDY, environment=_ENVIRONMENT)
    if wrong:
        raise MachineError(f"debugfs could not change {image}: {wrong[0]}")
    script.unlink()


def name_at_offset(image: Path, start: int) -> str:
    """Return e2fsprogs' name for the file system that begins at byte `start` of an image."""
    return f"{image}?offset={start}" if start else str(image)


def text_of(file_system: str, path: str) -> str:
    """Return the text of a file in a file system, empty if the file does not exist."""
    return run(
        ["debugfs", "-R", f"cat {ext4_contents.quote_path(path)}", "--", file_system], remedy=REMEDY
    )


def is_there(file_system: str, path: str) -> bool:
    """Say whether a file system has a file."""
    return bool(
        run(
            ["debugfs", "-R", f"stat {ext4_contents.quote_path(path)}", "--", file_system],
            remedy=REMEDY,
        )
    )


def content_digest(image: Path) -> str:
    """Return the SHA-256 of an image's content, in hex; blocks of zeros are left out."""
    total, zeros = hashlib.sha256(), bytes(_BLOCK)
    with image.open("rb") as file:
        for start, end in folders.data_ranges(file.fileno(), _BLOCK):
            file.seek(start)
            for place in range(start, end, _CHUNK):
                data = file.read(min(_CHUNK, end - place))
                for offset in range(0, len(data), _BLOCK):
                    block = data[offset : offset + _BLOCK]
                    if block != zeros:
                        total.update((place + offset).to_bytes(8, "big") + block)
    return total.hexdigest()
