"""What is in force on a machine, measured on the machine's own kernel in a guest.

The lists that come with hardcost are of Debian's kernels. Another kernel's prices are measured
here: each setting by itself, and the constants of the cost model for audit rules.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from auditrules.cost.constants import Constants
from hardcost.errors import InputError
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce
from hardcost.library.interrupt import until_done
from hardcost.library.measurement import Measuring
from hardcost.library.pricelist import PriceListRequest, build_list, kind_of
from hardcost.library.rules.cost import constants_of
from hardcost.machines import names
from hardcost.machines.options import MachineOptions
from hardcost.measure.monitor import Monitor
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.workload import Workload
from hardcost.prices.listed import measurable
from hardcost.prices.price_list import PriceList
from hardcost.supply.packages import guest_release

_MACHINE = "vm"
_CALLS = Workload("syscalls")
_BOOT = "/boot"
_KERNEL = re.compile(r"vmlinuz-[\w.+-]{1,100}", re.ASCII)
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class OwnPrices:
    """What was measured on a machine's kernel; None: nothing of that is in force."""

    prices: PriceList | None
    constants: Constants | None


def measured_here(kernel: Path, found: Sequence[InForce], monitor: Monitor) -> OwnPrices:
    """Measure what was found in force on a kernel, in guests.

    Raises:
        HardcostError: The kernel does not boot, or a trial failed.
    """
    wanted = MachineOptions(kernel=kernel)
    settings = {one.control.setting for one in found if one.control is not None}
    chosen = tuple(
        one.name for one in measurable() if one.setting in settings and kind_of(one) == "settings"
    )
    how = Measuring(wanted=wanted, workloads=(_CALLS,))
    prices = build_list(PriceListRequest(chosen, how=how), monitor) if chosen else None
    if not any(isinstance(one.control, AuditRule) for one in found):
        return OwnPrices(prices, None)
    names.check(_MACHINE, wanted)
    machine = until_done(names.make(_MACHINE, wanted, monitor))
    return OwnPrices(prices, constants_of(machine, guest_release.codename(None), monitor))


def own_kernel(files: MachineFiles) -> Path:
    """Return the kernel of a machine as `--kernel` takes it.

    Raises:
        InputError: It is not at hand.
    """
    if files.is_here:
        return Path("host")
    if files.root is None:
        raise InputError(
            "another machine's kernel is not at hand",
            hint="copy its root, or its /etc and /boot, and name the folder by --root",
        )
    kernels = [one for one in files.names(_BOOT) if _KERNEL.fullmatch(one)]
    plain = [one for one in kernels if files.link(f"{_BOOT}/{one}") is None]
    if not plain or files.link(_BOOT) is not None:
        raise InputError(f"{files.root} has no kernel: no file {_BOOT}/vmlinuz-…")
    return files.root / "boot" / max(plain, key=_version)


def _version(name: str) -> list[int]:
    return [int(one) for one in _NUMBERS.findall(name)]
