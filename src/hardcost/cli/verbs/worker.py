"""`hardcost worker`."""

from __future__ import annotations

import os
from dataclasses import dataclass

import click

from auditrules.cli.options import option, takes
from auditrules.cli.verb import Verb
from hardcost.cli.input.options import TlsOptions
from hardcost.errors import InputError


@dataclass(frozen=True)
class _Options:
    """The options of `hardcost worker` alone."""

    guests: int = option(
        "--guests",
        type=click.IntRange(0, 256),
        metavar="N",
        default=len(os.sched_getaffinity(0)),
        help="How many guests run at a time (default: one for each core).",
    )
    builds: int | None = option(
        "--builds",
        metavar="N",
        type=click.IntRange(0, 64),
        help="How many kernels are built at a time; they share the cores (default: one for every"
        " four cores, at least one; none without a compiler or a sandbox).",
    )
    name: str | None = option(
        "--name",
        metavar="NAME",
        help="The worker's name in messages (default: the host's, and a process number).",
    )
    listen: str | None = option(
        "--listen",
        metavar="ADDRESS[:PORT]",
        help="Where other workers and the scheduler reach this one (default: the address by which"
        " it reaches the scheduler, and any port).",
    )
    attended: bool = option("--attended", is_flag=True, hidden=True)


@click.command(cls=Verb)
@click.argument("address")
@takes("own", _Options)
@takes("tls", TlsOptions)
def worker(address: str, own: _Options, tls: TlsOptions) -> None:
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
    from hardcost.cli.console import console
    from hardcost.cli.input import requests
    from hardcost.library.interrupt import until_done
    from hardcost.measure.workers.lab import lab_at, listening_address, need_dask
    from hardcost.measure.workers.ssh_worker import receive_certificate, until_left

    if not own.guests and own.builds == 0:
        raise InputError("a worker without guests and without builds has nothing to do")
    lab = lab_at(address, tls.tls_ca, tls.tls_cert, tls.tls_key, insecure=tls.insecure)
    listens = (
        None if own.listen is None else listening_address(lab, own.listen, insecure=tls.insecure)
    )
    need_dask()
    from hardcost.measure.workers.serve import serve

    if own.attended:
        lab = receive_certificate(lab)
    requests.warn_of_risk(lab)
    work = serve(lab, own.guests, own.builds, console.note, name=own.name, listens=listens)
    until_done(until_left(work) if own.attended else work)
