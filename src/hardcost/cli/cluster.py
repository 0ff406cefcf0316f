"""`hardcost cluster`: a lab of several hosts, started from one."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from hardcost.cli import console
from hardcost.cli.lazy import with_dask
from hardcost.cli.options import warn
from hardcost.cli.waiting import until_done
from hardcost.errors import InputError
from hardcost.report.text import visible
from hardcost.run.workers.lab import lab_at

if TYPE_CHECKING:
    from pathlib import Path


def ssh(  # noqa: PLR0913  (click's options)
    *,
    hosts: tuple[str, ...],
    address: str,
    command: str,
    ssh: str,
    guests: int | None,
    builds: int | None,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    insecure: bool,
) -> None:
    """Run a scheduler here and a worker on each host until interrupted."""
    lab = lab_at(address, tls_ca, tls_cert, tls_key, insecure=insecure)
    run = with_dask("hardcost.run.workers.overssh:run_over_ssh")
    what = with_dask("hardcost.run.workers.overssh:OnHosts")(
        hosts, _words("--ssh", ssh), _words("--command", command), guests, builds
    )
    warn(lab)
    until_done(run(lab, what, lambda text: console.note(visible(text))))


def scheduler(
    *,
    address: str,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    insecure: bool,
) -> None:
    """Run a scheduler here until interrupted, or until a client ends it."""
    lab = lab_at(address, tls_ca, tls_cert, tls_key, insecure=insecure)
    scheduling = with_dask("hardcost.run.workers.closed:scheduling")

    async def schedule() -> None:
        async with scheduling(lab) as (_, running):
            console.note(f"scheduler at {lab.address}; Ctrl-C ends it")
            await running.finished()

    warn(lab)
    until_done(schedule())


def _words(option: str, text: str) -> list[str]:
    """Return the words of a command, as a shell would see them.

    Raises:
        InputError: There are none, or a quote is not closed.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{option}: {error}: {text}") from None
    if not words:
        raise InputError(f"{option} names no program")
    return words
