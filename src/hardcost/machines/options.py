"""The user's choices for the machine that trials run on, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hardcost.model.request import CheckedRequest, Count


@dataclass(frozen=True)
class MachineOptions(CheckedRequest):
    """The instrument, whether it repeats exactly, and what guests are made of.

    `guest` is the release of Debian whose packages they hold, such as `debian:13` (None: this
    host's), `kernel` an image to boot, `source` the Linux that kernels are built from, `image` or
    `rootfs` a root for guests with services, `qemu` the emulator (None: this host's), `cpu` a
    processor model, `processors` how many of a guest are measured. Without `emulated_time` an
    emulator's times are refused; `unconfined`: what is built may run outside a sandbox; `yes`: a
    machine that is there already may be changed also where users are logged in. `address` is what
    follows a machine's name and a colon, such as the host of `ssh:HOST`.
    """

    instrument: str = "insn"
    exact: bool = True
    guest: str | None = None
    kernel: Path | None = None
    source: Path | None = None
    image: Path | None = None
    rootfs: Path | None = None
    qemu: str | None = None
    cpu: str = "max"
    processors: Count = 1
    emulated_time: bool = True
    unconfined: bool = False
    yes: bool = False
    address: str = ""
