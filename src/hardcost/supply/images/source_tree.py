"""An image of Linux's source tree, or of an even sample of it, for workloads that copy files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from hardcost.errors import InputError
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.images import ext4, record, selinux_labels
from hardcost.supply.images.ext4_contents import ImageFile
from hardcost.supply.images.root_image import GRAIN, RootImage
from hardcost.supply.kernels.source import debian_source

OWNER = 1000  # user and group of all files in it
_LABEL = b"system_u:object_r:src_t:s0"  # SELinux's for /usr/src; without one, copying is refused
_RECIPE = "3"  # increase it when the same parts yield a different image
_BLOCK = 4096
_FOR_EACH_FILE = 2 * _BLOCK  # bytes: its last block and its inode, with some reserve
_AT_LEAST = 16 << 20  # bytes, for a file system's own data


def tree_image(cache: Cache, files: int) -> RootImage:
    """Return the image of `files` files of Linux's source, made on first use; all, if fewer.

    They are sampled evenly from the whole tree sorted by name, so that a part resembles the whole;
    its directories are theirs. All of it belongs to uid 1000.

    Raises:
        InputError: `files` is less than 1.
        MachineError: The source can't be fetched, or e2fsprogs is missing.
    """
    if files < 1:
        raise InputError(f"a source tree of {files} files can't be copied: use at least 1")
    source = debian_source(cache)
    name = digest({"tree": source.digest, "files": str(files), "recipe": _RECIPE})
    title = f"{files} files of {source.title}"

    def fill(folder: Path) -> None:
        cache.check(source.folder)
        every = sorted(_files(source.folder), key=lambda path: path.parts)
        chosen = sample_evenly(every, files)
        image, size = folder / "root.img", _size(source.folder, chosen)
        ext4.make(image, size, _entries(source.folder, chosen), journal=False)
        ext4.change(image, ["rmdir lost+found"], folder / "script")  # only root could copy it
        actual = title if len(chosen) == files else f"all {len(chosen)} files of {source.title}"
        record.keep(folder, RootImage(image, ext4.content_digest(image), actual, size))

    return record.load_image(cache.make("images", name, title, fill, known=record.is_known))


def sample_evenly(every: Sequence[Path], count: int) -> list[Path]:
    """Return `count` of them, evenly spaced; all of them if there are fewer."""
    wanted = min(count, len(every))
    return [every[index * len(every) // wanted] for index in range(wanted)]


def _files(folder: Path) -> Iterator[Path]:
    """Yield all files and links below a folder, as relative paths."""
    for place, folders, names in os.walk(folder):
        here = Path(place).relative_to(folder)
        yield from (here / name for name in names)
        yield from (here / name for name in folders if (folder / here / name).is_symlink())


def _size(folder: Path, chosen: Sequence[Path]) -> int:
    content = sum((folder / path).lstat().st_size + _FOR_EACH_FILE for path in chosen)
    return -(-(content + _AT_LEAST) // GRAIN) * GRAIN


def _entries(folder: Path, chosen: Sequence[Path]) -> Iterator[ImageFile]:
    """Yield the files as those of a user, and their directories."""
    above = {parent for path in chosen for parent in path.parents}
    for path in (*above, *chosen):
        source = folder / path
        mode = stat.S_IFDIR | 0o755 if path in above else source.lstat().st_mode
        target = str(source.readlink()) if stat.S_ISLNK(mode) else ""
        label = {selinux_labels.ATTRIBUTE: _LABEL}
        yield ImageFile(path, mode, OWNER, OWNER, ext4.EPOCH, source, "", target, label)
