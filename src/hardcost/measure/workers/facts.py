"""Facts that must be the same on a worker and on the run's own host, so that counts are."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from hardcost.files import own_code
from hardcost.machines import names

_LENGTH = 12  # hex digits of the code's hash that are shown


def facts(machine: str) -> dict[str, str]:
    """Return the facts of this host and program that decide a machine's counts, by title.

    Raises:
        MachineError: The host lacks what the machine needs.
    """
    return {**_programs(), **names.facts(machine)}


def build_facts(machine: str) -> dict[str, str]:
    """Return the facts that decide the kernels that are built here for a machine, by title.

    Raises:
        MachineError: None can be built here.
    """
    return {**_programs(), **names.build_facts(machine)}


def builders_facts(machine: str) -> dict[str, str]:
    """Return the same of a host that builds kernels for others.

    Raises:
        MachineError: It can't.
    """
    names.check_builder(machine)
    return build_facts(machine)


def _programs() -> dict[str, str]:
    return {
        "hardcost": f"{_version('hardcost')} (code {own_code()[:_LENGTH]})",
        "Dask": _version("distributed"),
    }


def differences(ours: Mapping[str, str], theirs: Mapping[str, str]) -> str:
    """Return how a worker's facts differ from the run's own, as text; empty if they don't."""
    return "; ".join(
        f"its {title} is {theirs.get(title, 'missing')}, here it is {value}"
        for title, value in ours.items()
        if theirs.get(title) != value
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "(not installed)"
