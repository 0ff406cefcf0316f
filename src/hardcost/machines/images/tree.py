"""An image of Linux's source tree, or of an even part of it, for workloads that copy files."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.errors import InputError
from hardcost.machines.cache import digest
from hardcost.machines.images import ext4, kept, labels
from hardcost.machines.images.image import GRAIN, RootImage
from hardcost.machines.kernels.source import debian_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.machines.cache import Cache

OWNER = 1000  # user and group of all that is in it
_LABEL = "system_u:object_r:src_t:s0"  # SELinux's of /usr/src; without one, copying it is refused
_RECIPE = "2"  # raise it when images come out otherwise than by their parts
_BLOCK = 4096
_FOR_EACH_FILE = 2 * _BLOCK  # bytes: its last block and its inode, and some to spare
_AT_LEAST = 16 << 20  # bytes, for what a file system holds of its own


def tree_image(cache: Cache, files: int) -> RootImage:
    """Return the image of `files` files of Linux's source, made on first use; all, if fewer.

    They are taken evenly from the whole tree in its order by name, so that a part is like the
    whole; directories are those that they lie in. All of it belongs to uid 1000.

    Raises:
        InputError: `files` is less than 1.
        MachineError: The source can't be fetched, or e2fsprogs is missing.
    """
    if files < 1:
        raise InputError(f"a source tree of {files} files can't be copied: ask for 1 at least")
    source = debian_source(cache)
    name = digest({"tree": source.digest, "files": str(files), "recipe": _RECIPE})
    title = f"{files} files of {source.title}"

    def fill(folder: Path) -> None:
        every = sorted(_files(source.folder), key=lambda path: path.parts)
        chosen = spread(every, files)
        image, size = folder / "root.img", _size(source.folder, chosen)
        ext4.make(image, size, journal=False)
        ext4.change(image, _commands(source.folder, chosen), folder / "script")
        said = title if len(chosen) == files else f"all {len(chosen)} files of {source.title}"
        kept.keep(folder, RootImage(image, ext4.content_digest(image), said, size))

    return kept.kept(cache.make("images", name, title, fill))


def spread(every: Sequence[Path], count: int) -> list[Path]:
    """Return `count` of all, at even distances; all of them where they are fewer."""
    wanted = min(count, len(every))
    return [every[index * len(every) // wanted] for index in range(wanted)]


def _files(folder: Path) -> Iterator[Path]:
    """Yield all files and links below a folder, as paths in it."""
    for place, folders, names in os.walk(folder):
        here = Path(place).relative_to(folder)
        yield from (here / name for name in names)
        yield from (here / name for name in folders if (folder / here / name).is_symlink())


def _size(folder: Path, chosen: Sequence[Path]) -> int:
    content = sum((folder / path).lstat().st_size + _FOR_EACH_FILE for path in chosen)
    return -(-(content + _AT_LEAST) // GRAIN) * GRAIN


def _commands(folder: Path, chosen: Sequence[Path]) -> Iterator[str]:
    """Yield debugfs's commands that put files and the directories above them into an image.

    In the order of their names, so that the same files always get the same inodes and blocks.
    Each is made by its mere name, in its directory: debugfs takes `/name` for one in the present
    directory.
    """
    made = {Path()}
    yield "rmdir lost+found"
    yield from _as_a_users("/")
    for path in chosen:
        for above in reversed(path.parents):
            if above not in made:
                made.add(above)
                yield f"cd {ext4.quoted(f'/{above.parent}')}"
                yield f"mkdir {ext4.quoted(above.name)}"
                yield from _as_a_users(above.name)
        name, source = ext4.quoted(path.name), folder / path
        yield f"cd {ext4.quoted(f'/{path.parent}')}"
        if stat.S_ISLNK(source.lstat().st_mode):
            yield f"symlink {name} {ext4.quoted(str(source.readlink()))}"
        else:
            yield f"write {ext4.quoted(str(source))} {name}"
        yield from _as_a_users(path.name)


def _as_a_users(name: str) -> Iterator[str]:
    for field in ("uid", "gid"):
        yield f"sif {ext4.quoted(name)} {field} {OWNER}"
    yield f'ea_set {ext4.quoted(name)} {labels.ATTRIBUTE} "{_LABEL}"'
