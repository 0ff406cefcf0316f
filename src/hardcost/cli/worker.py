"""`hardcost worker`: a host's share in runs that are spread over several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.cli import console
from hardcost.cli.lazy import with_dask
from hardcost.cli.waiting import until_done
from hardcost.errors import InputError
from hardcost.run.workers.lab import lab_at

if TYPE_CHECKING:
    from pathlib import Path


def worker(  # noqa: PLR0913, PLR0917  (click's options)
    address: str,
    guests: int,
    builds: int | None,
    name: str | None,
    tls_ca: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Run trials and build kernels for others until interrupted.

    Raises:
        InputError: It is to do neither.
    """
    if not guests and builds == 0:
        raise InputError("a worker without guests and without builds has nothing to do")
    lab = lab_at(address, tls_ca, tls_cert, tls_key)
    serve = with_dask("hardcost.run.workers.serve:serve")
    until_done(serve(lab, guests, builds, name, console.note))
