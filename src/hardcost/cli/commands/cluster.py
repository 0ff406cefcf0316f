"""Arguments and options of `hardcost cluster`."""

from __future__ import annotations

import platform

import click

from hardcost.cli.commands.shared import tls_options
from hardcost.cli.lazy import LazyGroup, carried_out_by

_TLS_CA, _TLS_CERT, _TLS_KEY, _INSECURE = tls_options()


_ADDRESS = click.option(
    "--address",
    metavar="ADDRESS",
    default=f"tls://{platform.node()}:8786",
    help="The address of the scheduler on this host, as the other hosts reach it (default: this"
    " host's name, port 8786). With a name it listens on all addresses of this host, with an IP"
    " address on that one. tcp:// is without TLS, and allowed only on 127.0.0.1, where every user"
    " of this machine can then run programs as you.",
)


@click.group(cls=LazyGroup)
def cluster() -> None:
    """Spread runs over several hosts: start a scheduler, and workers.

    \b
    Example:  hardcost cluster ssh lab2 lab3 lab4
    """


@cluster.command()
@click.argument("hosts", nargs=-1, required=True, metavar="HOST…")
@_ADDRESS
@click.option(
    "--command",
    metavar="COMMAND",
    default="hardcost",
    show_default=True,
    help="The command that starts hardcost on the hosts, such as venv/bin/hardcost.",
)
@click.option(
    "--ssh",
    metavar="COMMAND",
    default="ssh",
    show_default=True,
    help="The command that connects to the hosts, with its options: 'ssh -i key -l user'.",
)
@click.option(
    "--guests",
    metavar="N",
    type=click.IntRange(0, 256),
    help="How many guests run at a time on each host (default: one for each core).",
)
@click.option(
    "--builds",
    metavar="N",
    type=click.IntRange(0, 64),
    help="How many kernels are built at a time on each host (default: as of `hardcost worker`).",
)
@_TLS_CA
@_TLS_CERT
@_TLS_KEY
@_INSECURE
@carried_out_by("hardcost.cli.cluster:ssh")
def ssh() -> None:
    """Run a Dask scheduler here and a worker on each HOST, until Ctrl-C ends them all.

    ssh has to reach each HOST without a password, and hardcost has to be installed there. A worker
    ends with its connection, and all end with this command.

    Without --tls-ca, --tls-cert and --tls-key, a certificate is made that is valid while this runs.
    The hosts get it over ssh, and your other commands on this host find it. If you name
    certificates, they have to be at the same paths on all hosts.

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

    Without --tls-ca, --tls-cert and --tls-key, it makes a certificate that is valid while it runs.
    Your workers and runs on this host find it; for other hosts, name certificates of your own.

    \b
    Example:  hardcost cluster scheduler --address tls://127.0.0.1:8786
              hardcost worker tls://127.0.0.1:8786      (elsewhere on this host)
    """
