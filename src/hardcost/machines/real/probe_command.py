"""The command that starts the probe, in the shell's words: it needs no more than `sh` there."""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Sequence
from pathlib import Path

from hardcost.supply.programs import program_path

PROGRAMS = ("hardcost-probe", "hardcost-measured", "hardcost-noop")
"""Our programs that measure: the probe, which finds the others beside it."""

KEEPER = "hardcost-keeper"
"""The program that changes a machine and undoes that; it has no part in what is measured."""

COPIED = (*PROGRAMS, KEEPER)
"""All that a machine over ssh is given."""

# $1 is the folder of our programs, $2 a scratch folder, $3 a processor or "", $4 seconds, $5 the
# length of the job in bytes. The job comes on standard input, which stays open as long as hardcost
# waits for answers. When it ends, `end` kills the probe with all its descendants, and removes the
# folders in /tmp that measured processes worked in, since a probe that is killed can't: those whose
# whole path is /tmp/work.NUMBER. Where the probe itself works is its user's choice. It holds on the
# processor what it measures.
_SCRIPT = """\
d=$2; n=$5
end() {
  for k in $(cat /proc/"$1"/task/*/children); do end "$k"; done
  w=$(readlink /proc/"$1"/cwd); kill -KILL "$1"
  case "$1 ${w#/tmp/work.}" in "$p "*|*" "|*" "*[!0-9]*) ;; *) rm -rf "$w";; esac
}
set -- "$1/hardcost-probe" serve "$4" $3
umask 022; mkdir -m 755 "$d" && mkfifo -m 600 "$d/job" || exit 1
exec 3<&0 </dev/null
"$@" <"$d/job" 3<&- &
p=$!
(
  head -c "$n" <&3 >"$d/job"
  while read -r x <&3; do :; done
  kill -STOP "$p"; end "$p"; rm -rf "$d"
) >/dev/null 2>&1 &
w=$!
wait "$p"; r=$?
kill -KILL "$w" 2>/dev/null; rm -rf "$d"
exit "$r"
"""


def words(folder: str, cpu: int | None, scratch: str, seconds: float, job_bytes: int) -> list[str]:
    """Return the words that start the probe in `folder`, as a shell takes them."""
    pinned = "" if cpu is None else str(cpu)
    limit = str(math.ceil(seconds))
    return ["sh", "-c", _SCRIPT, "sh", folder, scratch, pinned, limit, str(job_bytes)]


def scratch() -> str:
    """Return the path of a folder that does not exist yet: the probe makes it, and removes it."""
    return f"/tmp/hardcost-{secrets.token_hex(8)}"  # noqa: S108  (random)


def hashes(folder: Path | None = None, names: Sequence[str] = COPIED) -> dict[str, str]:
    """Return the SHA-256 of some of our programs: of a folder's, or of those built.

    Raises:
        MachineError: They were not built.
    """
    paths = {name: program_path(name) if folder is None else folder / name for name in names}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}


def programs_hash(folder: Path | None = None) -> str:
    """Return one hash that stands for those that measure.

    Raises:
        MachineError: They were not built.
    """
    return hashlib.sha256("".join(hashes(folder, PROGRAMS).values()).encode()).hexdigest()
