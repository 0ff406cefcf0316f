"""`hardcost worker`: a host's share in runs that are spread over several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.cli import console
from hardcost.cli.lazy import with_dask
from hardcost.cli.options import warn
from hardcost.cli.waiting import until_done
from hardcost.errors import InputError
from hardcost.run.workers.attended import introduced, until_left
from hardcost.run.workers.lab import lab_at, listening

if TYPE_CHECKING:
    from pathlib import Path


def worker(  # noqa: PLR0913  (click's options)
    *,
    address: str,
    guests: int,
    builds: int | None,
    name: str | None,
    listen: str | None,
    attended: bool,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    insecure: bool,
) -> None:
    """Run trials and build kernels for others until interrupted.

    Raises:
        InputError: It is to do neither, or the address or the certificates don't fit.
    """
    if not guests and builds == 0:
        raise InputError("a worker without guests and without builds has nothing to do")
    lab = lab_at(address, tls_ca, tls_cert, tls_key, insecure=insecure)
    listens = None if listen is None else listening(lab, listen, insecure=insecure)
    serve = with_dask("hardcost.run.workers.serve:serve")
    if attended:
        lab = introduced(lab)
    warn(lab)
    work = serve(lab, guests, builds, console.note, name=name, listens=listens)
    until_done(until_left(work) if attended else work)
