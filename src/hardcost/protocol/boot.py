"""The boot that a machine is asked for, and its kernel's verdicts on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

INSTALLED = "installed:"
"""The prefix of the release, in the name of a kernel that is installed on a machine."""

Guest = Literal["small", "compiler", "debian"]
"""The content of a guest.

`small` has the probe and auditctl, `compiler` a compiler and sources besides, both in memory;
`debian` is a whole Debian system on a disk, with services.
"""

Init = Literal["probe", "systemd"]
"""The starter of a Debian guest's services: the probe, as a trial needs; or systemd, all."""


@dataclass(frozen=True)
class KernelRecipe:
    """A kernel to be built: a base configuration and the options that are set on top of it.

    `base` is the name of one that comes with hardcost, or a file's path; `options` are (name
    without `CONFIG_`, value) in the order in which they are set, the last of a name holding. Where
    it is `tolerant`, an option that does not come out is noted, else it is an error. `patches` are
    applied to the source, one after another: each a file, a folder of patches, or the name of a
    series that comes with hardcost.
    """

    base: str = "lean"
    options: tuple[tuple[str, str], ...] = ()
    tolerant: bool = False
    patches: tuple[str, ...] = ()


@dataclass(frozen=True)
class Boot:
    """The settings that a machine needs before it starts.

    `parameters` are words for the kernel's command line, beside the machine's own. `layout_seed`
    None fixes the memory layout; a number lets the kernel randomise it, repeatably, from that seed.
    `kernel` is built for the boot; `shipped` names one that exists, as `--kernel` does. Without
    either it is the machine's own. `fresh` has each trial boot, where it would go on from a
    snapshot otherwise. `init`, `tree` and `disk` are a Debian guest's: `tree` is the number of
    files of Linux's source that it has, read-only, under `/srv/tree` (0: none), `disk` the least
    GiB of its root (0: as it is). `by_function`: it is watched which functions execute how much,
    `traced`: and which process runs when; `lines` names a function whose lines are counted one by
    one.
    """

    parameters: tuple[str, ...] = ()
    layout_seed: int | None = None
    kernel: KernelRecipe | None = None
    guest: Guest = "small"
    init: Init = "probe"
    fresh: bool = False
    tree: int = 0
    disk: int = 0
    shipped: str | None = field(default=None, repr=False)  # identities are older than it
    by_function: bool = field(default=False, repr=False)  # no part of what boots
    traced: bool = field(default=False, repr=False)  # nor that
    lines: str = field(default="", repr=False)  # nor that


@dataclass(frozen=True)
class Unmet:
    """An option that did not come out as asked for; `found` is its value, `why` the reason."""

    option: str
    wanted: str
    found: str
    why: str


@dataclass(frozen=True)
class Relations:
    """The options of a recipe by their effect, in its order.

    `effective` change the kernel; those in `already` are so on the base; `unmet` don't come out
    when all are asked for. `requires`: an effective option comes out only together with those.
    """

    effective: tuple[tuple[str, str], ...]
    already: tuple[tuple[str, str], ...]
    unmet: tuple[Unmet, ...]
    requires: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class WordVerdict:
    """The verdict on one word: `refused` says why it has no effect, `note` what is unknown.

    `meant` is the parameter that was probably meant. At least one of the first two is not empty.
    """

    word: str
    refused: str = ""
    note: str = ""
    meant: str | None = None


@dataclass(frozen=True)
class BootAccount:
    """A kernel's account of a boot line: `verdicts` has only the words with a problem.

    `faults` are the processor's by name, each with the kernel's mitigation, as under
    /sys/devices/system/cpu/vulnerabilities.
    """

    verdicts: tuple[WordVerdict, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()
