"""Arguments and options of `hardcost worker`."""

from __future__ import annotations

import os

import click

from hardcost.cli.commands.shared import tls_options
from hardcost.cli.lazy import carried_out_by
from hardcost.cli.verb import Verb

_TLS_CA, _TLS_CERT, _TLS_KEY, _INSECURE = tls_options()


@click.command(cls=Verb)
@click.argument("address")
@click.option(
    "--guests",
    type=click.IntRange(0, 256),
    metavar="N",
    default=len(os.sched_getaffinity(0)),
    help="How many guests run at a time (default: one for each core).",
)
@click.option(
    "--builds",
    metavar="N",
    type=click.IntRange(0, 64),
    help="How many kernels are built at a time; they share the cores (default: one for every four"
    " cores, at least one; none without a compiler or a sandbox).",
)
@click.option(
    "--name",
    metavar="NAME",
    help="The worker's name in messages (default: the host's, and a process number).",
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
    """Run guests and build kernels on this host for runs that are started on another.

    ADDRESS is that of a Dask scheduler, such as tls://host:8786; `hardcost cluster scheduler`
    starts one. The worker runs until it is interrupted or the scheduler ends. It gets the files
    that guests and kernels are made of from the host that started the run, and keeps them in this
    host's cache. Both hosts need the same versions of hardcost, Dask and QEMU, and to build kernels
    the same compiler.

    Whoever can connect to the scheduler or a worker can run programs as the user who started it.
    With TLS, these are the holders of a certificate of the cluster. Without TLS (tcp://), everybody
    who reaches the port: on 127.0.0.1 every user of this machine. Other addresses without TLS need
    --insecure.

    \b
    Example:  hardcost worker tls://lab1:8786 --tls-ca ca.pem --tls-cert lab2.pem --tls-key lab2.key
    """
