"""A machine's check of this host: the subject, whether it will do, and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hardcost.errors import HardcostError
from hardcost.host import process
from hardcost.host.install_command import install


@dataclass(frozen=True)
class Check:
    """One thing looked at: `needed` says that nothing can be measured without it."""

    name: str
    ok: bool
    found: str
    remedy: str = ""
    needed: bool = True

    @classmethod
    def of(cls, name: str, error: HardcostError) -> Check:
        """Return what was looked at and failed."""
        problem = error.problems[0]
        return cls(name, ok=False, found=problem.message, remedy=problem.hint or "")


def program(name: str, package: str) -> Check:
    """Look for a program on the PATH, which comes with a Debian package."""
    found = process.find_program(name)
    return Check(name, found is not None, found or "missing", install(package))


def attempt(name: str, look: Callable[[], str]) -> Check:
    """Look at something by doing it: `look` returns what it found, or raises what is missing."""
    try:
        return Check(name, ok=True, found=look())
    except HardcostError as error:
        return Check.of(name, error)
