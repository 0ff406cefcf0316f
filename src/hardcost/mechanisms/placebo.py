"""Placebos: changes without effect, applied as any control is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from hardcost.controls.control import Control, PlaceboKind, of_kind
from hardcost.errors import TrialError
from hardcost.mechanisms.boot import PLACEBO_WORD
from hardcost.mechanisms.mechanism import Mechanism, NoKeys
from hardcost.protocol.answers import Answer, WrittenAnswer, all_of
from hardcost.protocol.requests import Request, Write

# Settings of every kernel whose handlers store the value and do next to nothing else.
_SETTINGS = (
    "kernel/panic",
    "vm/swappiness",
    "kernel/randomize_va_space",
    "vm/dirty_ratio",
    "vm/overcommit_memory",
    "kernel/panic_on_oops",
    "vm/vfs_cache_pressure",
    "vm/page-cluster",
    "vm/overcommit_ratio",
    "vm/dirty_background_ratio",
)
_MOST_WORDS = 4


@dataclass(frozen=True)
class Placebo(Control):
    """A change without effect, to see by how much measurements differ by chance; `number` from 0.

    Each number does it differently: other lengths, other counts.
    """

    kind: PlaceboKind
    number: int

    mechanism: ClassVar[str] = "placebo"

    @property
    def name(self) -> str:
        return f"placebo {self.kind} {self.number}"

    @property
    def placebo(self) -> PlaceboKind:
        return self.kind


class PlaceboMechanism(Mechanism[NoKeys]):
    """A change without effect, applied as any control is; reports never list it."""

    name = "placebo"
    why_no_ansible_tasks = "it changes nothing"
    keys = NoKeys

    def boot_parameters(self, controls: Sequence[Control]) -> tuple[str, ...]:
        """Return words for the kernel's command line that the kernel ignores."""
        return tuple(word for one in _of_kind(controls, "boot") for word in _words(one.number))

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests to write the values that settings have already."""
        return tuple(
            Write(path=path) for one in _of_kind(controls, "sysctl") for path in _paths(one.number)
        )

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Check that a setting that was written again has kept its value.

        A control of the profile may have written the same setting, with a value of its own.

        Raises:
            TrialError: It has another.
        """
        own = {path for one in _of_kind(controls, "sysctl") for path in _paths(one.number)}
        written = [answer for answer in all_of(answers, WrittenAnswer) if answer.path in own]
        kept = {answer.path for answer in written if answer.before == answer.after}
        for answer in written:
            if answer.path not in kept:
                raise TrialError(f"{answer.path} did not keep its value {answer.before!r}")
        return ()


def rules(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return lines for auditctl: rules that are deleted again, which no process could match."""
    return tuple(
        f"{flag} always,exit -F arch=b64 -S all -F pid={4194304 + at} -F key=placebo-{one.number}"
        for one in _of_kind(controls, "rule")
        for flag in ("-a", "-d")
        for at in range(one.number % 10 + 1)
    )


def _of_kind(controls: Sequence[Control], kind: str) -> list[Placebo]:
    return [one for one in of_kind(controls, Placebo) if one.kind == kind]


def _words(number: int) -> list[str]:
    """Return one to four words of 20 to some 100 characters."""
    return [
        f"{PLACEBO_WORD}{'x' * (4 + (number * 13 + at * 7) % 89)}"
        for at in range(number % _MOST_WORDS + 1)
    ]


def _paths(number: int) -> list[str]:
    """Return one to three settings."""
    return [
        f"/proc/sys/{_SETTINGS[(number + at) % len(_SETTINGS)]}" for at in range(number % 3 + 1)
    ]


PLACEBOS = PlaceboMechanism()
