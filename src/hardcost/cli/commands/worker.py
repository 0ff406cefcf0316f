"""Arguments and options of `hardcost worker`."""

from __future__ import annotations

import os

import click

from hardcost.cli.commands.shared import tls_options
from hardcost.cli.lazy import carried_out_by

_TLS_CA, _TLS_CERT, _TLS_KEY = tls_options()


@click.command()
@click.argument("address")
@click.option(
    "--guests",
    type=click.IntRange(0, 256),
    default=len(os.sched_getaffinity(0)),
    show_default="one for each core",
    help="How many guests run at a time.",
)
@click.option(
    "--builds",
    type=click.IntRange(0, 64),
    help="How many kernels are built at a time; they share the cores (default: one for every four"
    " cores, at least one; none where compiler or sandbox are missing).",
)
@click.option(
    "--name", help="What messages call this worker (default: the host and a process number)."
)
@_TLS_CA
@_TLS_CERT
@_TLS_KEY
@carried_out_by("hardcost.cli.worker:worker")
def worker() -> None:
    """Run trials and build kernels for others' --workers.

    ADDRESS is that of a Dask scheduler, such as tcp://host:8786; `dask scheduler` starts one. The
    worker runs until it is interrupted or the scheduler ends. What guests and kernels are made of
    comes from the host on which a run was started, and stays in this host's cache. Both need the
    same hardcost, Dask and QEMU, and for kernels the same compiler.

    Whoever can reach the scheduler can run programs on its workers: use a network that you trust,
    or TLS.

    \b
    Example:  hardcost worker tcp://lab1:8786
    """
