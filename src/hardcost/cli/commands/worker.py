"""Arguments and options of `hardcost worker`."""

from __future__ import annotations

import os

import click

from hardcost.cli.commands.shared import tls_options
from hardcost.cli.lazy import carried_out_by

_TLS_CA, _TLS_CERT, _TLS_KEY, _INSECURE = tls_options()


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
@click.option(
    "--listen",
    metavar="ADDRESS[:PORT]",
    help="Where other workers and the scheduler reach this one (default: the address by which it"
    " reaches the scheduler, and any port).",
)
@click.option("--attended", is_flag=True, hidden=True)
@_TLS_CA
@_TLS_CERT
@_TLS_KEY
@_INSECURE
@carried_out_by("hardcost.cli.worker:worker")
def worker() -> None:
    """Run trials and build kernels for others' --workers.

    ADDRESS is that of a Dask scheduler, such as tls://host:8786; `hardcost cluster scheduler`
    starts one. The worker runs until it is interrupted or the scheduler ends. What guests and
    kernels are made of comes from the host on which a run was started, and stays in this host's
    cache. Both need the same hardcost, Dask and QEMU, and for kernels the same compiler.

    Whoever can talk to the scheduler or to a worker can run programs as its user. With TLS that is
    who has a certificate of the lab. Without (tcp://) it is everybody who reaches its port: on
    127.0.0.1 every user of this machine; another address is refused without --insecure.

    \b
    Example:  hardcost worker tls://lab1:8786 --tls-ca ca.pem --tls-cert lab2.pem --tls-key lab2.key
    """
