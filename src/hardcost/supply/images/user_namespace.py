"""Root privileges over a tree of files: as root, or else in a user namespace.

Either way in its own mount and process namespaces, so that mounts and processes go with the last
program, however that ends; and the host's name is not visible there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import find_program, run

REMEDY = (
    "root needs the right to mount, which containers may lack (CAP_SYS_ADMIN); others need the"
    " package uidmap and ids in /etc/subuid and /etc/subgid (usermod --add-subuids 100000-165535"
    " --add-subgids 100000-165535 USER)"
)
"""The remedy if `why_not` has a reason."""

_APART = ("unshare", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc")
_NAMED = ("sh", "-c", 'hostname hardcost && exec "$0" "$@"')
_MAPPED = ("--user", "--map-root-user", "--map-auto")


def as_root(argv: Sequence[str | Path]) -> list[str | Path]:
    """Return the words that run a program as root over files.

    Other users become root in a user namespace, where all ids that /etc/subuid grants stand for
    the other users.
    """
    mapped = () if os.geteuid() == 0 else _MAPPED
    return [*_APART, *mapped, "--", *_NAMED, *argv]


def why_not() -> str | None:
    """Return None if `as_root` works, else why it does not."""
    if os.geteuid() != 0 and find_program("newuidmap") is None:
        return "newuidmap is missing: without it, only root can create files of several users"
    try:
        run(as_root(["true"]))
    except MachineError as error:
        return str(error).splitlines()[-1]
    return None


def remove(tree: Path) -> None:
    """Remove a tree of files of several users, if it is there."""
    if tree.exists():
        run(as_root(["rm", "-rf", "--one-file-system", "--", tree]))
