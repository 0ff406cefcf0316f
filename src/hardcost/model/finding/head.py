"""The head of every finding: its run, the state that was measured, and notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hardcost.model.document import Document, Internal
from hardcost.model.finding.cell import Cell

_FIRST = ("qemu", "kernel", "cpu_model", "host")
"""The facts of an environment that come first; others follow by name."""


@dataclass(frozen=True)
class Score:
    """How many of the catalogue's kernel options a kernel has as recommended.

    It is known of configurations whose kernel hardcost has built.
    """

    met: int
    of: int


@dataclass(frozen=True, kw_only=True)
class Head:
    """What a run is.

    `machine` is "vm", "host" or "ssh:HOST"; `environment` holds its kernel, QEMU and more.
    """

    run: str
    study: str
    machine: str = ""
    instrument: str
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Found(Head, Document):
    """The base of all findings.

    `command` is the command line, word by word, and `folder` its working directory, if a word of it
    is a path relative to that.
    """

    cells: tuple[Cell, ...]
    notes: tuple[str, ...] = ()
    title: Internal[str] = ""
    command: Internal[tuple[str, ...]] = ()
    folder: Internal[str] = ""


def in_order(environment: Mapping[str, str]) -> dict[str, str]:
    """Return an environment with the facts that determine counts first, others by name."""

    def place(fact: tuple[str, str]) -> tuple[int, str]:
        name, _ = fact
        return _FIRST.index(name) if name in _FIRST else len(_FIRST), name

    return dict(sorted(environment.items(), key=place))
