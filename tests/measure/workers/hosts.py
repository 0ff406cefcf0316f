"""Two hosts in one: network namespaces with a cable between, which reach nothing else."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

LAB, INTRUDER = "192.0.2.1", "192.0.2.2"
"""Their addresses; of a range that no host has."""

LISTEN = "0A"  # as /proc/net/tcp writes it
_STAYS = ("sh", "-c", "echo; exec sleep 3600")


@dataclass
class Hosts:
    """The namespaces, each held by a process: of the lab, and of a host that is no part of it.

    `mapped`: in a user namespace, which needs no privileges, and knows no other users.
    """

    mapped: bool = True
    lab: subprocess.Popen[str] | None = None
    intruder: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        user = ("--user", "--map-root-user") if self.mapped else ()
        self.lab = self._held(["unshare", *user, "--net", "--", *_STAYS])
        self.intruder = self._held([*self.in_lab(), "unshare", "--net", "--", *_STAYS])
        for words in (
            "link set lo up",
            f"link add lab type veth peer name lab netns {self.intruder.pid}",
            f"addr add {LAB}/24 dev lab",
            "link set lab up",
        ):
            subprocess.run([*self.in_lab(), "ip", *words.split()], check=True)
        for words in ("link set lo up", f"addr add {INTRUDER}/24 dev lab", "link set lab up"):
            subprocess.run([*self.outside(), "ip", *words.split()], check=True)
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self.intruder, self.lab):
            if one is not None:
                one.kill()
                one.communicate()

    def in_lab(self) -> list[str]:
        """Return the words that run a program on the lab's host."""
        return self._inside(self.lab)

    def outside(self) -> list[str]:
        """Return the words that run a program on the other host."""
        return self._inside(self.intruder)

    def _inside(self, held: subprocess.Popen[str] | None) -> list[str]:
        assert held is not None
        user = ("--user", "--preserve-credentials") if self.mapped else ()
        return ["nsenter", f"--target={held.pid}", *user, "--net", "--"]

    @staticmethod
    def _held(argv: Sequence[str]) -> subprocess.Popen[str]:
        """Start what holds a namespace, and wait until it does."""
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "\n"
        return process


def listening(pid: int) -> set[str]:
    """Return the TCP addresses on which a process listens, as in /proc/net/tcp, decoded."""
    inodes = set()
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            found = re.fullmatch(r"socket:\[(\d+)\]", str(link.readlink()))
        except OSError:
            continue
        inodes |= {found[1]} if found else set()
    return {
        _decoded(fields[1])
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
        if (fields := line.split())[3] == LISTEN and fields[9] in inodes
    }


def _decoded(text: str) -> str:
    host, _, port = text.partition(":")
    data = bytes.fromhex(host)
    if len(data) == 4:
        return f"{'.'.join(map(str, reversed(data)))}:{int(port, 16)}"
    return f"[{host}]:{int(port, 16)}"
