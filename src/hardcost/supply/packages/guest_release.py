"""The release of Debian that guests are made of: this host's, or the one that `--guest` names."""

from __future__ import annotations

from hardcost.errors import InputError
from hardcost.supply.packages.host_release import RELEASES, check

DEBIAN = "debian:"
"""The prefix of a release of Debian."""

NAMES = tuple(f"{DEBIAN}{number}" for number in RELEASES)
"""The releases that guests can be made of."""


def check_guest(name: str | None) -> None:
    """Check that guests can be made of what a name names.

    Raises:
        InputError: There is no such release.
    """
    if name is not None and name not in NAMES:
        raise InputError(
            f"there is no '{name}' that guests are made of", hint=f"there are {', '.join(NAMES)}"
        )


def codename(name: str | None) -> str | None:
    """Return the code name of a release, such as `trixie`; None: it is the host's own.

    The host's own packages are the same ones whether they are named or not.

    Raises:
        InputError: There is no such release.
        MachineError: This host has no way to Debian's packages.
    """
    check_guest(name)
    if name is None:
        return None
    found = RELEASES[name.removeprefix(DEBIAN)]
    return None if found == check().codename else found


def title(codename: str) -> str:
    """Return what a release calls itself, as it does on a host of its own."""
    number = next(number for number, name in RELEASES.items() if name == codename)
    return f"Debian GNU/Linux {number} ({codename})"
