"""Arguments and options of `hardcost cluster`."""

from __future__ import annotations

import platform

import click

from hardcost.cli.commands.shared import tls_options
from hardcost.cli.lazy import LazyGroup, carried_out_by

_TLS_CA, _TLS_CERT, _TLS_KEY, _INSECURE = tls_options()


_ADDRESS = click.option(
    "--address",
    default=f"tls://{platform.node()}:8786",
    show_default="this host's name, port 8786",
    help="Where the scheduler listens on this host, as the others reach it. A name listens on all"
    " of this host's addresses, a number on that one. Without TLS (tcp://) only on 127.0.0.1, where"
    " every user of this machine can run programs as you.",
)


@click.group(cls=LazyGroup)
def cluster() -> None:
    """Start a scheduler, and workers on several hosts at once.

    \b
    Example:  hardcost cluster ssh lab2 lab3 lab4
    """


@cluster.command()
@click.argument("hosts", nargs=-1, required=True, metavar="HOST…")
@_ADDRESS
@click.option(
    "--command",
    default="hardcost",
    show_default=True,
    help="What starts hardcost on the hosts, such as venv/bin/hardcost.",
)
@click.option(
    "--ssh",
    default="ssh",
    show_default=True,
    help="What reaches the hosts, with options of its own: 'ssh -i key -l user'.",
)
@click.option(
    "--guests", type=click.IntRange(0, 256), help="As of `hardcost worker`, on each host."
)
@click.option("--builds", type=click.IntRange(0, 64), help="As of `hardcost worker`, on each host.")
@_TLS_CA
@_TLS_CERT
@_TLS_KEY
@_INSECURE
@carried_out_by("hardcost.cli.cluster:ssh")
def ssh() -> None:
    """Run a Dask scheduler here and a worker on each HOST, until Ctrl-C ends them all.

    Each HOST is reached with ssh, without a password, as its configuration says, and needs
    hardcost. When this ends, or a connection, its workers end as well.

    Without --tls-ca, --tls-cert and --tls-key a certificate is made for as long as this runs. The
    hosts get it over ssh, and other commands of yours on this host find it. Certificates that you
    name lie at the same paths on all hosts.

    \b
    Example:  hardcost cluster ssh lab2 lab3 lab4
              hardcost run audit-rules --workers tls://lab1:8786      (elsewhere on lab1)
    """


@cluster.command()
@_ADDRESS
@_TLS_CA
@_TLS_CERT
@_TLS_KEY
@_INSECURE
@carried_out_by("hardcost.cli.cluster:scheduler")
def scheduler() -> None:
    """Run a Dask scheduler here until Ctrl-C, for workers that you start yourself.

    Without --tls-ca, --tls-cert and --tls-key it makes a certificate for as long as it runs, which
    your workers and runs on this host find. Other hosts need one that you name.

    \b
    Example:  hardcost cluster scheduler --address tls://127.0.0.1:8786
              hardcost worker tls://127.0.0.1:8786      (elsewhere on this host)
    """
