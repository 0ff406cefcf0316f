"""Files to be put into an ext4 image, and debugfs's commands that do it.

In the order of their names, so that the same files always get the same inodes and blocks, whatever
the folder that they come from; mke2fs would take them as its directories happen to list them.
"""

from __future__ import annotations

import base64
import json
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines.images.namespace import as_root
from hardcost.machines.process import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_WALK = Path(__file__).with_name("walk.py")
_USUAL = {stat.S_IFDIR: 0o040755, stat.S_IFLNK: 0o120777, stat.S_IFREG: None}
_FAIR = frozenset(range(32, 127))  # bytes that a command can hold as they are


@dataclass(frozen=True)
class Entry:
    """A file of an image: its path in it, and `source`, where its content lies.

    `mode` has its kind as well, `changed` is in seconds since 1970. `twin` is the same for all
    names of one file, empty for a file with one name; `target` is where a link leads.
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


def entries(tree: Path, newest: int) -> list[Entry]:
    """Return all of a tree but what is mounted in it; what is newer than `newest` is that old.

    Raises:
        MachineError: A part can't be read, or a name is no text.
    """
    listed = run(as_root([sys.executable, "-I", _WALK, tree]))
    found = []
    for line in listed.splitlines():
        path, mode, owner, group, changed, twin, target, attributes = json.loads(line)
        if any(ord(letter) < ord(" ") or "\ud800" <= letter < "\ue000" for letter in path + target):
            raise MachineError(f"{tree} has a file whose name is no text: {path!r}")
        values = {name: base64.b64decode(value) for name, value in attributes.items()}
        old = min(changed, newest)
        source = tree / path
        found.append(Entry(Path(path), mode, owner, group, old, source, twin, target, values))
    return found


def commands(files: Iterable[Entry], now: int, folder: Path) -> Iterator[str]:
    """Yield debugfs's commands that put files into an image made at `now`, directories first.

    Each is made by its mere name, in its directory: debugfs takes `/name` for one in the present
    directory. `folder` takes the values of attributes that are no text.
    """
    here, seen = Path(), dict[str, tuple[Path, int]]()
    for entry in sorted(files, key=lambda one: one.path.parts):
        name = quoted(entry.path.name or "/")
        if entry.path.parent != here:
            here = entry.path.parent
            yield f"cd {quoted(f'/{here}')}"
        if entry.twin in seen and entry.twin:
            first, names = seen[entry.twin]
            seen[entry.twin] = (first, names + 1)
            yield f"ln {quoted(f'/{first}')} {name}"
            yield f"sif {name} links_count {names + 1}"
            continue
        if entry.twin and not stat.S_ISDIR(entry.mode):
            seen[entry.twin] = (entry.path, 1)
        made = _made(entry, name)
        if made is not None:
            yield from made
            yield from _described(entry, name, now, folder)


def quoted(path: str) -> str:
    """Return a path as a word for debugfs."""
    return '"' + path.replace('"', '""') + '"'


def _made(entry: Entry, name: str) -> list[str] | None:
    """Return what makes a file, None for one that is made by what uses it: device or socket."""
    kind = stat.S_IFMT(entry.mode)
    if kind == stat.S_IFDIR:
        return [] if not entry.path.name else [f"mkdir {name}"]
    if kind == stat.S_IFLNK:
        return [f"symlink {name} {quoted(entry.target)}"]
    if kind == stat.S_IFREG:
        return [f"write {quoted(str(entry.source))} {name}"]
    return [f"mknod {name} p"] if kind == stat.S_IFIFO else None


def _described(entry: Entry, name: str, now: int, folder: Path) -> Iterator[str]:
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
            yield f"ea_set -f {quoted(str(file))} {name} {attribute}"
