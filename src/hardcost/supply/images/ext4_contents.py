"""Files to be put into an ext4 image, and the debugfs commands that do it.

They are sorted by name, so that the same files always get the same inodes and blocks, whatever
folder they come from; mke2fs would take them in the order in which its directories list them.
"""

from __future__ import annotations

import base64
import json
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import run
from hardcost.supply.images.user_namespace import as_root

_WALK = Path(__file__).with_name("walk.py")
_USUAL = {stat.S_IFDIR: 0o040755, stat.S_IFLNK: 0o120777, stat.S_IFREG: None}
_FAIR = frozenset(range(32, 127))  # bytes that need no quoting in a command


@dataclass(frozen=True)
class ImageFile:
    """A file of an image: its path in it, and `source`, the location of its content.

    `mode` includes the file type, `changed` is in seconds since 1970. `twin` is the same for all
    names of one file, empty for a file with one name; `target` is that of a link.
    """

    path: Path
    mode: int
    owner: int
    group: int
    changed: int
    source: Path
    twin: str = ""
    target: str = ""
    attributes: Mapping[str, bytes] = field(default_factory=dict)


def entries(tree: Path, newest: int) -> list[ImageFile]:
    """Return all of a tree except mounts in it; files newer than `newest` get that time.

    Raises:
        MachineError: A part can't be read, or a name is not text.
    """
    listed = run(as_root([sys.executable, "-I", _WALK, tree]))
    found = []
    for line in listed.splitlines():
        path, mode, owner, group, changed, twin, target, attributes = json.loads(line)
        if any(ord(letter) < ord(" ") or "\ud800" <= letter < "\ue000" for letter in path + target):
            raise MachineError(f"{tree} has a file whose name is not text: {path!r}")
        values = {name: base64.b64decode(value) for name, value in attributes.items()}
        old = min(changed, newest)
        source = tree / path
        found.append(ImageFile(Path(path), mode, owner, group, old, source, twin, target, values))
    return found


def commands(files: Iterable[ImageFile], now: int, folder: Path) -> Iterator[str]:
    """Yield debugfs commands that put files into an image made at `now`, directories first.

    Each is created by its bare name, in its directory: debugfs takes `/name` for a file in the
    current directory. `folder` receives the values of attributes that are not text.
    """
    here, seen = Path(), dict[str, tuple[Path, int]]()
    for entry in sorted(files, key=lambda one: one.path.parts):
        name = quote_path(entry.path.name or "/")
        if entry.path.parent != here:
            here = entry.path.parent
            yield f"cd {quote_path(f'/{here}')}"
        if entry.twin in seen and entry.twin:
            first, names = seen[entry.twin]
            seen[entry.twin] = (first, names + 1)
            yield f"ln {quote_path(f'/{first}')} {name}"
            yield f"sif {name} links_count {names + 1}"
            continue
        if entry.twin and not stat.S_ISDIR(entry.mode):
            seen[entry.twin] = (entry.path, 1)
        made = _creation_commands(entry, name)
        if made is not None:
            yield from made
            yield from _attribute_commands(entry, name, now, folder)


def quote_path(path: str) -> str:
    """Return a path as a word for debugfs."""
    return '"' + path.replace('"', '""') + '"'


def _creation_commands(entry: ImageFile, name: str) -> list[str] | None:
    """Return the commands that create a file; None for devices and sockets, which users create."""
    kind = stat.S_IFMT(entry.mode)
    if kind == stat.S_IFDIR:
        return [] if not entry.path.name else [f"mkdir {name}"]
    if kind == stat.S_IFLNK:
        return [f"symlink {name} {quote_path(entry.target)}"]
    if kind == stat.S_IFREG:
        return [f"write {quote_path(str(entry.source))} {name}"]
    return [f"mknod {name} p"] if kind == stat.S_IFIFO else None


def _attribute_commands(entry: ImageFile, name: str, now: int, folder: Path) -> Iterator[str]:
    if _USUAL.get(stat.S_IFMT(entry.mode)) != entry.mode:
        yield f"sif {name} mode 0{entry.mode:o}"
    for key, value in (("uid", entry.owner), ("gid", entry.group)):
        if value:
            yield f"sif {name} {key} {value}"
    if entry.changed != now:
        yield f"sif {name} mtime @{entry.changed}"
    for attribute, content in entry.attributes.items():
        if _FAIR.issuperset(content):
            yield f'ea_set {name} {attribute} "{content.decode()}"'
        else:
            file = folder / f"value-{base64.b32encode(content).decode().rstrip('=')[:80]}"
            file.write_bytes(content)
            yield f"ea_set -f {quote_path(str(file))} {name} {attribute}"
