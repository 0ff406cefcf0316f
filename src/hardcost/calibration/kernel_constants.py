"""Constants for the kernel at hand: measured in a guest once, and kept with that kernel."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from auditrules.cost.constants import Constants, ConstantsError
from hardcost.calibration import rule_set_costs
from hardcost.calibration.baseline import measure_without_rules
from hardcost.calibration.experiments import DIRECTORY, FILES, experiments
from hardcost.calibration.fit import fit
from hardcost.machines.machine import Machine
from hardcost.machines.options import MachineOptions
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.packages import debian

_LIMIT_SECONDS = 1800.0  # of host time, for all experiments of one kernel, on a busy host
_FILE = "constants.toml"
_DEBIAN_RELEASE = re.compile(r"(\d+\.\d+\.0)-\d+-([a-z0-9-]+)")  # 6.1.0-57-amd64: series, flavour


def place(machine: Machine, cache: Cache) -> Path:
    """Return the folder in the cache where the constants of the machine's kernel are kept."""
    return cache.root / "constants" / digest(machine.kernel_identity())


def kept_constants(machine: Machine, cache: Cache) -> Constants | None:
    """Return the constants that were fitted for the machine's kernel; None if none were."""
    folder = place(machine, cache)
    if cache.find(folder.parent.name, folder.name) is None:
        return None
    try:
        return Constants.from_toml((folder / _FILE).read_text())
    except (FileNotFoundError, ConstantsError):
        return None


def fits(constants: Constants, environment: Mapping[str, str]) -> bool:
    """Say whether constants hold for the kernel, QEMU and processor that were measured.

    `environment` is a machine's or a record's. Of Debian's kernels the series and flavour count:
    6.1.0-57-amd64 is followed by 6.1.0-58-amd64, whose audit code is hardly another;
    `note_other_release` says so. Any other kernel has to be the same. Of QEMU the version counts,
    without what its distribution adds: a kernel chooses its code by the processor that QEMU shows.
    """
    about, same = constants.about, ("cpu_model", "acceleration")
    return all(about.get(key, "") == environment.get(key) for key in same) and all(
        of(about) == of(environment) for of in (_series, _version)
    )


def note_other_release(constants: Constants, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a note if constants that fit are of another release than the measured kernel's."""
    ours, measured = constants.about.get("kernel"), environment.get("kernel")
    if ours == measured:
        return ()
    where = f"the constants of {ours}, of the same series"
    return (f"costs on kernel {measured} are predicted with {where}",)


def constants_at_hand(machine: Machine, cache: Cache) -> tuple[Constants | None, tuple[str, ...]]:
    """Return constants for the machine's kernel, and a note if they are not its own.

    Those that were fitted to it come first, then those that come with hardcost, if they fit; None
    if none do.
    """
    found = kept_constants(machine, cache)
    if found is not None:
        return found, ()
    shipped, environment = Constants.of_debian(), machine.environment(Boot())
    if fits(shipped, environment):
        return shipped, note_other_release(shipped, environment)
    return None, ()


def constants_of_record(
    machine: Machine, cache: Cache, environment: Mapping[str, str]
) -> Constants | None:
    """Return the constants of the kernel in a record's `environment`; None if none were fitted.

    Those of a kernel at hand are found by what its image holds; those that come with hardcost by
    its release, as Debian names it. A kernel that was built for a trial is not the machine's own,
    and there are none for it.
    """
    if machine.environment(Boot())["kernel"] != environment.get("kernel"):
        return None
    found = kept_constants(machine, cache)
    if found is not None:
        return found if fits(found, environment) else None
    shipped = Constants.of_debian()
    return shipped if fits(shipped, environment) else None


def fit_remedy(wanted: MachineOptions) -> str:
    """Return the command that fits constants to the guests that are wanted, as a remedy."""
    usual = Constants.of_debian().about["cpu_model"]
    words = [f"--guest {wanted.guest}"] if wanted.guest else []
    words += [f"--kernel {wanted.kernel}"] if wanted.kernel else []
    words += [f"--cpu {wanted.cpu}"] if wanted.cpu != usual else []
    words += [f"--qemu {wanted.qemu}"] if wanted.qemu else []
    return (
        f"`hardcost rules cost --fit {' '.join([*words, 'FILE'])}` measures them in a few minutes"
    )


def _series(about: Mapping[str, str]) -> str:
    """Return the release of a kernel, of Debian's without its number in the series."""
    release = about.get("kernel", "")
    found = _DEBIAN_RELEASE.fullmatch(release)
    return f"{found[1]}-{found[2]}" if found else release


def _version(about: Mapping[str, str]) -> str:
    return about.get("qemu", "").partition(" ")[0]


async def fit_constants(machine: Machine, cache: Cache, release: str | None = None) -> Constants:
    """Measure in a guest, fit the constants, keep them with the kernel, and return them.

    The guest is made of a release of Debian, by default of the host's.

    Raises:
        MachineError: The guest does not start, or a measurement fails.
    """
    wanted = list(experiments())
    sets = [rule_set_costs.RuleSetRequest(one.rules, one.how_often()) for one in wanted]
    watched = rule_set_costs.Watched((DIRECTORY,), FILES)
    measured = await rule_set_costs.measure(machine, sets, watched, _LIMIT_SECONDS)
    levels = {
        one.name: {name: statistics.mean(each) for name, each in found.items()}
        for one, found in zip(wanted, measured.levels, strict=True)
    }
    environment = machine.environment(Boot())
    about = {
        "unit": "instructions",
        **{key: environment[key] for key in ("kernel", "qemu", "cpu_model", "acceleration")},
        "auditd": debian.version(cache, "auditd", release=release),
        "date": datetime.now(UTC).date().isoformat(),
    }
    constants = fit(levels, about, await measure_without_rules(machine, _LIMIT_SECONDS))
    _keep(machine, cache, constants)
    return constants


def _keep(machine: Machine, cache: Cache, constants: Constants) -> None:
    folder = place(machine, cache)
    title = f"constants of rules' cost: {constants.about['kernel']}"
    cache.throw_away(folder.parent.name, folder.name)
    with cache.building(folder.parent.name, folder.name, title) as made:
        if made is not None:  # else another run has just measured the same
            (made / _FILE).write_text(constants.to_toml())
