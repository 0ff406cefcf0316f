"""`hardcost doctor`: can this machine measure, with what, and what is missing."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict

import click

from hardcost.cli.console import note
from hardcost.cli.waiting import until_done
from hardcost.machines import host, names
from hardcost.machines.cache import Cache
from hardcost.machines.hostcheck import Check, attempt
from hardcost.report.text import visible
from hardcost.store.store import Store
from hardcost.store.storeplace import default_path

_FREE_BYTES = 2 << 30  # a kernel, its package and a few snapshots


def doctor(format: str) -> None:  # noqa: A002
    """Say whether this machine can measure, with which instruments, and what is missing."""
    note("looking at programs, caches and guests; a first boot takes some seconds …")
    checks = _checks()
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


def _checks() -> list[Check]:
    on = attempt("host", lambda: host.check().title)
    if not on.ok:
        return [on]  # all else comes from its apt
    cache = Cache()
    checks = [on, *(check for name in names.TITLES for check in names.examine(name, cache))]
    checks += [attempt("store", _store), _free(cache)]
    if all(check.ok for check in checks if check.needed):
        for name in names.TITLES:
            checks += until_done(names.try_out(name, cache))
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
