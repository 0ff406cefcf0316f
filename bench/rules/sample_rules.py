"""The example rules of Debian's audit package, on which benchmarks and tests of guests work."""

from __future__ import annotations

from pathlib import Path

from hardcost.errors import MachineError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import package_folder

_SAMPLES = "usr/share/doc/auditd/examples/*rules"  # rules in Debian 12, audit-rules in 13


def sample_rules(cache: Cache) -> Path:
    """Return the folder of the example rules in the audit package.

    Raises:
        MachineError: The package can't be fetched, or has none.
    """
    folder = next(package_folder(cache, "auditd").glob(_SAMPLES), None)
    if folder is None:
        raise MachineError(
            f"the package auditd has no {_SAMPLES}",
            hint="this release of Debian has it elsewhere; please report this",
        )
    return folder
