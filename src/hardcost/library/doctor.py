"""Whether a machine can measure, with what, and what is missing."""

from __future__ import annotations

import shutil
from dataclasses import replace

from hardcost.instruments.time import TIME
from hardcost.library.interrupt import until_done
from hardcost.machines import names
from hardcost.machines.check import Check, attempt
from hardcost.machines.options import MachineOptions
from hardcost.measure.chance import Resolution, resolutions
from hardcost.measure.monitor import Monitor
from hardcost.store.location import default_path
from hardcost.store.store import Store
from hardcost.supply.cache.cache import Cache
from hardcost.supply.emulators.names import check_emulator, emulator_named
from hardcost.supply.packages import host_release
from hardcost.supply.packages.guest_release import check_guest

_FREE_BYTES = 2 << 30  # a kernel, its package and a few snapshots


_SECONDS = 60.0  # of a measurement of what a machine can distinguish from chance


def checks_of(
    machine: str, monitor: Monitor, qemu: str | None = None, guest: str | None = None
) -> list[Check]:
    """Check whether a machine can measure, with which instruments, and what is missing.

    `qemu` is the emulator of guests, and `guest` their release, as for `MachineOptions`.

    Raises:
        HardcostError: There is no such machine, emulator or release, or it can't be reached.
    """
    wanted = MachineOptions(qemu=qemu, guest=guest)
    if names.is_running(machine):
        return _as_it_is(machine, monitor, wanted)
    check_emulator(qemu)
    check_guest(guest)
    monitor.note("looking at programs, caches and guests; a first boot takes some seconds …")
    return _checks(machine, wanted, monitor)


def _as_it_is(machine: str, monitor: Monitor, wanted: MachineOptions) -> list[Check]:
    """Look at a real machine, and measure the smallest difference that is not chance."""
    wanted = replace(wanted, instrument=TIME.name, exact=False)
    names.check(machine, wanted)
    cache = Cache()
    checks = [*names.examine(machine, cache, wanted)]
    if not all(check.ok for check in checks if check.needed):
        return checks
    checks += until_done(names.try_out(machine, cache, wanted))
    monitor.note(
        f"measuring the same state twice, to see which difference is noise, for {_SECONDS:.0f} s …"
    )
    made = until_done(names.make(machine, wanted, monitor))
    with monitor.stage("seconds", round(_SECONDS)) as advance:
        seconds_shown = 0

        def heard(left: float) -> None:
            nonlocal seconds_shown
            while seconds_shown < round(_SECONDS - left):
                seconds_shown += 1
                advance()

        found = until_done(resolutions(made, _SECONDS, heard))
    return [*checks, *map(_resolution, found)]


def _resolution(one: Resolution) -> Check:
    """Return the smallest difference of a call that a machine can distinguish from chance."""
    share = 100 * one.smallest / one.value
    said = (
        f"{one.smallest:,.1f} ns of {one.value:,.1f} ns ({share:.2g} %) in {one.blocks} blocks of"
        " trials, at the 1 % level"
    )
    if one.is_fair:
        return Check(f"smallest cost of {one.call}", ok=True, found=said)
    return Check(
        f"smallest cost of {one.call}",
        ok=False,
        found=f"two measurements of the same state differ by {one.low:.3g} to {one.high:.3g} ns",
        remedy="by chance that happens once in 100: run it again, or see what else runs there",
        needed=False,
    )


def _checks(machine: str, wanted: MachineOptions, monitor: Monitor) -> list[Check]:
    on = attempt("host", lambda: host_release.check().title)
    if not on.ok:
        return [on]  # all else comes from its apt
    cache = Cache()
    emulator_named(cache, wanted.qemu, monitor.note)  # may take a minute
    checks = [on, *names.examine(machine, cache, wanted)]
    checks += [attempt("store", _store), _free(cache)]
    if all(check.ok for check in checks if check.needed):
        checks += until_done(names.try_out(machine, cache, wanted))
    return checks


def _store() -> str:
    with Store(default_path()) as store:
        return str(store.path)


def _free(cache: Cache) -> Check:
    with cache.scratch() as folder:
        free = shutil.disk_usage(folder).free
    return Check(
        "free disk space",
        free >= _FREE_BYTES,
        f"{free / 2**30:.1f} GiB at {cache.root}",
        f"make room for {_FREE_BYTES >> 30} GiB, or set HARDCOST_CACHE",
    )
