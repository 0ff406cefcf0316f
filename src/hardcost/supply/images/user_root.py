"""Roots that the user brings: a disk image, raw or qcow2, or a folder with a system in it.

They are copied into the cache, complete and padded, so that later changes do not affect
measurements and nothing ever writes to the user's own. Roots are ext4, which guests can mount.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from hardcost.errors import InputError, MachineError
from hardcost.host.install_command import install
from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.images import ext4, ext4_contents, partitions, record
from hardcost.supply.images.root_image import GRAIN, RootImage

_RECIPE = "2"  # increase it when the same parts yield a different image
_QCOW2 = b"QFI\xfb"
# Parts of its header (QEMU's docs/interop/qcow2.txt): the offset of the backing file's name, 0 for
# none; and from version 3 on, incompatible features, one of which is data in an external file.
_QCOW2_HEADER = 104
_QCOW2_BACKING = slice(8, 16)
_QCOW2_FEATURES = slice(72, 80)
_QCOW2_HAS_FEATURES = (3).to_bytes(4, "big")
_QCOW2_DATA_ELSEWHERE = 4
_OS_RELEASE = ("/usr/lib/os-release", "/etc/os-release")
_PRETTY = re.compile(r"^PRETTY_NAME=[\"']?(.*?)[\"']?$", re.MULTILINE)
_PLACES = ("/srv", "/srv/tree")  # for the source that workloads copy
_DPKG_STATUS = "/var/lib/dpkg/status"
_PACKAGE = re.compile(
    r"^Package: (\S+)$(?:\n(?!\n).*)*?\n^Status: install ok installed$(?:\n(?!\n).*)*?\n"
    r"^Version: (\S+)$",
    re.MULTILINE,
)
_ROOM = 2 << 30  # bytes that a guest may fill, beyond the folder's content
_FOR_EACH_FILE = 8192  # bytes: its last block and its inode, with some reserve
_WHOLE_LIMIT_SECONDS = 3600.0
_CHECKED = (0, 1)  # e2fsck's exit statuses for a clean or repaired file system
_TAKEN = "hardcost takes a raw or qcow2 image of a disk or of an ext4 file system"


def image_file(path: Path, cache: Cache) -> RootImage:
    """Return the image in a file of the user's, copied into the cache on first use.

    Raises:
        InputError: It can't be read, is not a disk image, or holds no Linux root on ext4.
        MachineError: It can't be copied, or its file system is damaged beyond automatic repair.
    """
    path = path.absolute()
    status = _readable_status(path)
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path} is not a file", hint="a folder with a system goes to --rootfs")
    is_qcow2 = _begins_with(path, _QCOW2)
    if not is_qcow2:
        _root(path, path)  # reports mistakes before anything is copied
    name = digest({"image": str(path), "file": _identity(status), "recipe": _RECIPE})

    def fill(folder: Path) -> None:
        image = folder / "root.img"
        if is_qcow2:
            _convert_qcow2(path, image)
        else:
            words: list[str | Path] = ["cp", "--sparse=always", "--reflink=auto", "--", path, image]
            run(words, limit_seconds=_WHOLE_LIMIT_SECONDS)
        os.truncate(image, _round_up(image.stat().st_size))
        _adopt_image(folder, image, path, _root(image, path))

    return record.load_image(
        cache.make("images", name, f"image of {path}", fill, known=record.is_known)
    )


def rootfs_dir(path: Path, cache: Cache) -> RootImage:
    """Return an image of the system in a folder of the user's, made on first use.

    Raises:
        InputError: It is not a folder, holds no Linux root, or has other file systems mounted.
        MachineError: It can't be read completely.
    """
    path = path.absolute()
    if not stat.S_ISDIR(_readable_status(path).st_mode):
        raise InputError(f"{path} is not a folder", hint="a disk image goes to --image")
    if not any(os.path.lexists(f"{path}{name}") for name in _OS_RELEASE):
        raise InputError(
            f"{path} holds no Linux system: it has no /etc/os-release",
            hint="name the folder that holds etc, usr and var, such as mmdebstrap makes",
        )
    entries = sorted(_entries(path))
    size = _round_up(sum(size for _, size in entries) + _ROOM)
    all_of_it = "\n".join(entry for entry, _ in entries)
    name = digest({"rootfs": str(path), "files": all_of_it, "recipe": _RECIPE})

    def fill(folder: Path) -> None:
        image = folder / "root.img"
        ext4.make(image, size, ext4_contents.entries(path, ext4.EPOCH))
        _adopt_image(folder, image, path, None)

    return record.load_image(
        cache.make("images", name, f"image of the system in {path}", fill, known=record.is_known)
    )


def _readable_status(path: Path) -> os.stat_result:
    try:
        status = path.stat()
        if not os.access(path, os.R_OK):
            raise PermissionError(13, os.strerror(13))
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error
    return status


def _identity(status: os.stat_result) -> str:
    """Return a text that changes whenever the file does."""
    times = f"{status.st_mtime_ns} {status.st_ctime_ns}"
    return f"{status.st_dev} {status.st_ino} {status.st_size} {times}"


def _begins_with(path: Path, mark: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(mark)) == mark


def _round_up(size: int) -> int:
    return -(-size // GRAIN) * GRAIN


def _convert_qcow2(path: Path, image: Path) -> None:
    """Convert a qcow2 image to raw."""
    with path.open("rb") as file:
        header = file.read(_QCOW2_HEADER)
    backing = header[_QCOW2_BACKING]
    features = header[_QCOW2_FEATURES] if header[4:8] >= _QCOW2_HAS_FEATURES else b""
    if any(backing) or int.from_bytes(features, "big") & _QCOW2_DATA_ELSEWHERE:
        raise InputError(
            f"{path} is a qcow2 image with part of its content in another file",
            hint="`qemu-img convert -O qcow2` makes a complete one from it",
        )
    run(
        ["qemu-img", "convert", "-f", "qcow2", "-O", "raw", "-S", "4k", "--", path, image],
        remedy=f"{install('qemu-utils')}; if it is installed, the image itself is damaged",
        limit_seconds=_WHOLE_LIMIT_SECONDS,
    )


def _root(image: Path, shown: Path) -> partitions.Partition | None:
    """Return the partition that holds the root; None if the whole image is its file system."""
    found = partitions.partitions(image)
    whole = partitions.kind_of_image(image)
    if found is None or whole == partitions.EXT4:
        if whole != partitions.EXT4:
            what = f"{shown} is {whole}" if whole else f"the content of {shown} is unknown"
            raise InputError(f"{what}; a guest can't boot it", hint=_TAKEN)
        if not _title(str(image)):
            raise InputError(
                f"the file system in {shown} holds no Linux root: it has no /etc/os-release",
                hint="name the image of a system's root; data alone can't boot",
            )
        return None
    roots = [
        one
        for one in found
        if one.holds == partitions.EXT4 and _title(ext4.name_at_offset(image, one.start))
    ]
    if not roots:
        holds = "; ".join(f"{one.number}: {one.holds}, {one.size >> 20} MiB" for one in found)
        raise InputError(
            f"no partition of {shown} is a Linux root on ext4 (with /etc/os-release): {holds}",
            hint=f"{_TAKEN}; copy the system to a folder and name that with --rootfs",
        )
    return max(roots, key=lambda one: one.size)


def _title(file_system: str) -> str:
    """Return a system's name for itself, empty if there is none."""
    for path in _OS_RELEASE:
        if text := ext4.text_of(file_system, path):
            said = _PRETTY.search(text)
            return said[1] if said else "a Linux without a name"
    return ""


def _adopt_image(
    folder: Path, image: Path, origin: Path, partition: partitions.Partition | None
) -> None:
    """Check a copy's file system, repair what a journal can repair, and record the image.

    It gets a directory for Linux's source if it has none.
    """
    place = ext4.name_at_offset(image, 0 if partition is None else partition.start)
    checked = run(["sh", "-c", 'e2fsck -f -p -- "$0" 2>&1; echo "=$?"', place], remedy=ext4.REMEDY)
    said, _, status = checked.strip().rpartition("=")
    if int(status) not in _CHECKED:
        raise MachineError(
            f"the file system in {origin} is damaged: {said.strip() or f'e2fsck status {status}'}",
            hint="shut its system down cleanly, or repair it with e2fsck",
        )
    missing = [path for path in _PLACES if not ext4.is_there(place, path)]
    made = (f"cd {Path(path).parent}\nmkdir {Path(path).name}" for path in missing)
    ext4.change(place, made, folder / "script")
    packages = dict(_PACKAGE.findall(ext4.text_of(place, _DPKG_STATUS)))
    number = None if partition is None else partition.number
    size = image.stat().st_size
    title = f"{_title(place)} of {origin.name}"
    content = ext4.content_digest(image)
    record.keep(folder, RootImage(image, content, title, size, packages, partition=number))


def _entries(path: Path) -> Iterator[tuple[str, int]]:
    """Yield each file below a folder, as text that changes when it does, and its size in bytes."""
    device = path.stat().st_dev
    for place, folders, names in os.walk(path, onerror=_refuse_unreadable):
        for name in (*folders, *names):
            full = Path(place, name)
            status = full.lstat()
            if status.st_dev != device:
                raise InputError(
                    f"another file system is mounted on {full}",
                    hint="unmount it first: only the folder's own content can be taken",
                )
            yield f"{full} {status.st_mode} {_identity(status)}", status.st_size + _FOR_EACH_FILE


def _refuse_unreadable(error: OSError) -> None:
    raise MachineError(
        f"{error.filename} can't be read: {error.strerror}",
        hint="a system's files belong to several users: run hardcost as root to read them all",
    ) from error
