"""The command that starts the probe, in the shell's words: it needs no more than `sh` there."""

from __future__ import annotations

import hashlib
import math
from typing import TYPE_CHECKING

from hardcost.machines.ourprograms import built

if TYPE_CHECKING:
    from pathlib import Path

PROGRAMS = ("hardcost-probe", "hardcost-measured", "hardcost-noop")
"""Our programs that measure: the probe, which finds the others beside it."""

# $1 is the folder of our programs, $2 a scratch folder or "", $3 a processor or "", $4 seconds.
# Without taskset (util-linux) nothing is pinned, which the surroundings of each trial show.
_SCRIPT = (
    'd=$2; c=$3; set -- "$1/hardcost-probe" serve "$4";'
    ' if [ -n "$c" ] && command -v taskset >/dev/null; then set -- taskset -c "$c" "$@"; fi;'
    ' if [ -z "$d" ]; then exec "$@"; fi;'
    ' umask 022; mkdir -m 755 "$d" || exit 1; trap \'cd /; rm -rf "$d"\' EXIT;'
    " trap 'exit 1' HUP INT TERM;"
    ' cd "$d" && "$@"'
)


def words(folder: str, cpu: int | None, scratch: str | None, seconds: float) -> list[str]:
    """Return the words that start the probe in `folder`, as a shell takes them."""
    pinned = "" if cpu is None else str(cpu)
    return ["sh", "-c", _SCRIPT, "sh", folder, scratch or "", pinned, str(math.ceil(seconds))]


def hashes(folder: Path | None = None) -> dict[str, str]:
    """Return the SHA-256 of each of our programs that measure: of a folder's, or of those built.

    Raises:
        MachineError: They were not built.
    """
    paths = {name: built(name) if folder is None else folder / name for name in PROGRAMS}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}


def programs_hash(folder: Path | None = None) -> str:
    """Return one hash that stands for all of them.

    Raises:
        MachineError: They were not built.
    """
    return hashlib.sha256("".join(hashes(folder).values()).encode()).hexdigest()
