"""Arguments and options of `hardcost kernel`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option, tls_options, unconfined_option
from hardcost.cli.lazy import LazyGroup, carried_out_by
from hardcost.cli.verb import CLUSTER, Shared

_TLS_CA, _TLS_CERT, _TLS_KEY, _INSECURE = tls_options(
    partial(click.option, cls=Shared, section=CLUSTER)
)


@click.group(cls=LazyGroup)
def kernel() -> None:
    """Build kernels with hardening options, list them, and check kernel configurations.

    \b
    Example:  hardcost kernel build --option SLUB_DEBUG_ON=y
    """


@kernel.command()
@click.option(
    "--base",
    metavar="NAME|FILE",
    help="The kernel configuration to start from: 'lean', which comes with hardcost, or a file"
    " such as /boot/config-6.1.0 (default: the profile's, else lean).",
)
@click.option(
    "--source",
    type=click.Path(path_type=Path),
    help="The Linux source: a folder, or debian:VERSION such as debian:7.3 (default: Debian 12's"
    " package linux-source-6.1).",
)
@click.option(
    "--option",
    "single",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a kernel option, such as SLUB_DEBUG_ON=y; 'n' unsets it. May be repeated.",
)
@click.option(
    "--fragment",
    "fragments",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Set the options in this file, which has the form of a .config. May be repeated.",
)
@click.option(
    "--patch",
    "patches",
    multiple=True,
    metavar="PATCH",
    shell_complete=completion.patches,
    help="Patch the source: a file, a folder of patches, or a series that comes with hardcost, such"
    " as flat. May be repeated.",
)
@click.option(
    "--profile",
    metavar="PROFILE",
    shell_complete=completion.profiles,
    help="Set the kernel options of this profile, such as kspp.",
)
@click.option(
    "--jobs", metavar="N", type=click.IntRange(1, 256), help="How many compilers run at a time."
)
@unconfined_option()
@click.option(
    "--workers",
    cls=Shared,
    section=CLUSTER,
    metavar="ADDRESS",
    help="Build on a worker of this Dask scheduler (tls://host:8786), which `hardcost worker`"
    " starts; the kernel is then copied into this host's cache.",
)
@_TLS_CA
@_TLS_CERT
@_TLS_KEY
@_INSECURE
@format_option()
@carried_out_by("hardcost.cli.kernel:build")
def build() -> None:
    """Build a kernel, unless it exists, and print its path.

    Each option that you set is checked in the finished configuration. One that Kconfig dropped is
    an error; if it came from a ready-made profile, it is reported and skipped.

    A build runs makefiles and scripts of the kernel source on this machine, which your patch or
    source may change. So kernels are built in a sandbox: without network, without your files, and
    with write access to the folder of the build only.

    \b
    Examples:  hardcost kernel build --option INIT_ON_ALLOC_DEFAULT_ON=y
               hardcost kernel build --base /boot/config-6.1.0-26-amd64 --fragment my.config
               hardcost kernel build --patch flat --patch my-fix.patch
               hardcost kernel build --source debian:7.3 --patch flat
    """


@kernel.command(name="list")
@format_option()
@carried_out_by("hardcost.cli.kernel:list_")
def list_() -> None:
    """List the kernels that were built, with their options and patches.

    The score says how many of the hardening options that hardcost knows a kernel has.

    \b
    Example:  hardcost kernel list --format json
    """


@kernel.command()
@click.argument("file", type=click.Path(path_type=Path))
@format_option()
@carried_out_by("hardcost.cli.kernel:check")
def check() -> None:
    """List the hardening options that a kernel configuration lacks.

    FILE is a .config, such as /boot/config-6.1.0. It is compared with the hardening options that
    hardcost knows. Exit status 1 if it lacks any.

    \b
    Example:  hardcost kernel check /boot/config-$(uname -r)
    """
