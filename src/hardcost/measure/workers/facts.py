"""What must be the same on a worker as where a run is from, so that counts can be the same."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from hardcost.files import own_code
from hardcost.machines import names

if TYPE_CHECKING:
    from collections.abc import Mapping

_LENGTH = 12  # hex digits of the code's hash that are shown


def facts(machine: str) -> dict[str, str]:
    """Return what of this host and program decides what a machine's trials count, by its title.

    Raises:
        MachineError: The host lacks what the machine needs.
    """
    return {**_programs(), **names.facts(machine)}


def build_facts(machine: str) -> dict[str, str]:
    """Return what decides what a machine's kernels become that are built here, by its title.

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
