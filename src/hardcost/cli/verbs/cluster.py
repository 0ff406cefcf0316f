"""`hardcost cluster`."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass
from typing import Any

import click

from auditrules.cli.options import option, takes
from hardcost.cli.command import VerbGroup
from hardcost.cli.input.options import TlsOptions
from hardcost.errors import InputError


def _address_option() -> Any:
    """Return the option `--address` of a scheduler."""
    return option(
        "--address",
        metavar="ADDRESS",
        default=f"tls://{platform.node()}:8786",
        help="The address of the scheduler on this host, as the other hosts reach it (default: this"
        " host's name, port 8786). With a name it listens on all addresses of this host, with an IP"
        " address on that one. tcp:// is without TLS, and allowed only on 127.0.0.1, where every"
        " user of this machine can then run programs as you.",
    )


@dataclass(frozen=True)
class _SshOptions:
    """The options of `hardcost cluster ssh` alone."""

    address: str = _address_option()
    command: str = option(
        "--command",
        metavar="COMMAND",
        default="hardcost",
        show_default=True,
        help="The command that starts hardcost on the hosts, such as venv/bin/hardcost.",
    )
    ssh: str = option(
        "--ssh",
        metavar="COMMAND",
        default="ssh",
        show_default=True,
        help="The command that connects to the hosts, with its options: 'ssh -i key -l user'.",
    )
    guests: int | None = option(
        "--guests",
        metavar="N",
        type=click.IntRange(0, 256),
        help="How many guests run at a time on each host (default: one for each core).",
    )
    builds: int | None = option(
        "--builds",
        metavar="N",
        type=click.IntRange(0, 64),
        help="How many kernels are built at a time on each host (default: as of `hardcost"
        " worker`).",
    )


@dataclass(frozen=True)
class _SchedulerOptions:
    """The options of `hardcost cluster scheduler` alone."""

    address: str = _address_option()


@click.group(cls=VerbGroup)
def cluster() -> None:
    """Spread runs over several hosts: start a scheduler, and workers.

    \b
    Example:  hardcost cluster ssh lab2 lab3 lab4
    """


@cluster.command()
@click.argument("hosts", nargs=-1, required=True, metavar="HOST…")
@takes("own", _SshOptions)
@takes("tls", TlsOptions)
def ssh(hosts: tuple[str, ...], own: _SshOptions, tls: TlsOptions) -> None:
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
    from hardcost.cli.console import console
    from hardcost.cli.input import requests
    from hardcost.library.interrupt import until_done
    from hardcost.measure.workers.lab import lab_at, need_dask
    from hardcost.units import visible

    lab = lab_at(own.address, tls.tls_ca, tls.tls_cert, tls.tls_key, insecure=tls.insecure)
    need_dask()
    from hardcost.measure.workers.ssh_lab import OnHosts, run_over_ssh

    words = (_words("--ssh", own.ssh), _words("--command", own.command))
    what = OnHosts(hosts, *words, own.guests, own.builds)
    requests.warn_of_risk(lab)
    until_done(run_over_ssh(lab, what, lambda text: console.note(visible(text))))


@cluster.command()
@takes("own", _SchedulerOptions)
@takes("tls", TlsOptions)
def scheduler(own: _SchedulerOptions, tls: TlsOptions) -> None:
    """Run a Dask scheduler here until Ctrl-C, for workers that you start yourself.

    Without --tls-ca, --tls-cert and --tls-key, it makes a certificate that is valid while it runs.
    Your workers and runs on this host find it; for other hosts, name certificates of your own.

    \b
    Example:  hardcost cluster scheduler --address tls://127.0.0.1:8786
              hardcost worker tls://127.0.0.1:8786      (elsewhere on this host)
    """
    from hardcost.cli.console import console
    from hardcost.cli.input import requests
    from hardcost.library.interrupt import until_done
    from hardcost.measure.workers.lab import lab_at, need_dask

    lab = lab_at(own.address, tls.tls_ca, tls.tls_cert, tls.tls_key, insecure=tls.insecure)
    need_dask()
    from hardcost.measure.workers.dask_tls import scheduling

    async def schedule() -> None:
        async with scheduling(lab) as (_, running):
            console.note(f"scheduler at {lab.address}; Ctrl-C ends it")
            await running.finished()

    requests.warn_of_risk(lab)
    until_done(schedule())


def _words(option: str, text: str) -> list[str]:
    """Return the words of a command, as a shell would see them."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{option}: {error}: {text}") from None
    if not words:
        raise InputError(f"{option} names no program")
    return words
