"""Kernel options that harden, as the kernel's configuration has them."""

from __future__ import annotations

import re

from auditrules.model.location import Location
from hardcost.errors import HardcostError
from hardcost.in_force.boot import command_line, is_overruled
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.profiles.kernel import options
from hardcost.profiles.kernel.score import holds, score_of
from hardcost.supply.kernels import config

_RELEASE = "/proc/sys/kernel/osrelease"
_BOOT = "/boot"
_PREFIX = "config-"
_MODULES = "/usr/lib/modules"
_DIGITS = re.compile(r"[0-9]+")


def read(files: MachineFiles) -> Survey:
    """Return the options of the catalogue that the kernel is built with as recommended."""
    path = _path(files)
    text = None if path is None else files.text(path)
    if path is None or text is None:
        why = "the kernel's configuration: it is neither in /boot nor in /usr/lib/modules"
        return Survey(unseen=(why,), blind=(KernelOption,))
    try:
        values = config.read(text, path)
    except HardcostError as error:
        return Survey(unseen=(f"the kernel's configuration: {error}",), blind=(KernelOption,))
    words = command_line(files)
    found = [
        InForce(one.option.noun, one.option.name, one.option, Location(path), by_default=True)
        for one in options.entries()
        if one.scored and one.status != "gone" and holds(one.option, values)
        if not (isinstance(one.boot, BootParameter) and is_overruled(one.boot, words))
    ]
    score = score_of(values)
    said = f"{score.met} of {score.total} recommended kernel options are built in as recommended"
    return Survey(tuple({one.name: one for one in found}.values()), notes=(said,))


def _path(files: MachineFiles) -> str | None:
    """Return the path of the configuration of the kernel that runs, else of the newest one."""
    if files.live:
        release = (files.text(_RELEASE) or "").strip()
        places = (f"{_BOOT}/{_PREFIX}{release}", f"{_MODULES}/{release}/config")
        return next((one for one in places if files.exists(one)), None)
    found = [f"{_BOOT}/{one}" for one in files.names(_BOOT) if one.startswith(_PREFIX)]
    found += [f"{_MODULES}/{one}/config" for one in files.names(_MODULES)]
    return max(filter(files.exists, found), key=_by_version, default=None)


def _by_version(name: str) -> list[int]:
    return [int(part) for part in _DIGITS.findall(name)]
