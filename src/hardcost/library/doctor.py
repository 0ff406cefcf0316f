"""`hardcost doctor`: can this machine measure, with what, and what is missing."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from hardcost.cli.console import note
from hardcost.cli.lazy import imported
from hardcost.cli.monitors import monitor_of
from hardcost.cli.waiting import until_done
from hardcost.instruments.time import TIME
from hardcost.machines import host, names
from hardcost.machines.cache import Cache
from hardcost.machines.hostcheck import Check, attempt
from hardcost.machines.wanted import Wanted
from hardcost.report.text import visible
from hardcost.store.store import Store
from hardcost.store.storeplace import default_path

if TYPE_CHECKING:
    from hardcost.run.equal import Resolution

_GUESTS = frozenset({"vm", "fake"})
_FREE_BYTES = 2 << 30  # a kernel, its package and a few snapshots


_SECONDS = 60.0  # of a measurement of what a machine can tell from chance


def doctor(machine: str, format: str) -> None:  # noqa: A002
    """Say whether a machine can measure, with which instruments, and what is missing."""
    if machine in _GUESTS:
        note("looking at programs, caches and guests; a first boot takes some seconds …")
        checks = _checks(machine)
    else:
        checks = _as_it_is(machine)
    if format == "json":
        print(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        for check in checks:
            mark = "ok  " if check.ok else "NO  " if check.needed else "no  "
            click.echo(f"{mark}{check.name:22}{visible(check.found)}")
            if not check.ok and check.remedy:
                click.echo(f"      remedy: {visible(check.remedy)}")
    if any(check.needed and not check.ok for check in checks):
        raise click.exceptions.Exit(1)


def _as_it_is(machine: str) -> list[Check]:
    """Look at a real machine, and measure what it can tell from chance.

    Raises:
        HardcostError: There is no such machine, or it can't be reached.
    """
    wanted = Wanted(instrument=TIME.name, exact=False)
    names.check(machine, wanted)
    cache = Cache()
    checks = [*names.examine(machine, cache)]
    if not all(check.ok for check in checks if check.needed):
        return checks
    monitor = monitor_of("auto")
    checks += until_done(names.try_out(machine, cache))
    note(
        f"measuring the same state twice, to see which difference is noise, for {_SECONDS:.0f} s …"
    )
    made = until_done(names.make(machine, wanted, monitor))
    measured = imported("hardcost.run.equal:resolutions")
    with monitor.stage("seconds", round(_SECONDS)) as advance:
        told = [0]

        def heard(left: float) -> None:
            while told[0] < round(_SECONDS - left):
                told[0] += 1
                advance()

        found = until_done(measured(made, _SECONDS, heard))
    return [*checks, *map(_resolution, found)]


def _resolution(one: Resolution) -> Check:
    """Return what a machine can tell from chance of a call."""
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


def _checks(machine: str) -> list[Check]:
    on = attempt("host", lambda: host.check().title)
    if not on.ok:
        return [on]  # all else comes from its apt
    cache = Cache()
    checks = [on, *names.examine(machine, cache)]
    checks += [attempt("store", _store), _free(cache)]
    if all(check.ok for check in checks if check.needed):
        checks += until_done(names.try_out(machine, cache))
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
