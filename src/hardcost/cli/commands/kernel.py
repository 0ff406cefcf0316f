"""Arguments and options of `hardcost kernel`."""

from __future__ import annotations

from pathlib import Path

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option, tls_options, unconfined_option
from hardcost.cli.lazy import LazyGroup, carried_out_by

_TLS_CA, _TLS_CERT, _TLS_KEY, _INSECURE = tls_options()


@click.group(cls=LazyGroup)
def kernel() -> None:
    """Build kernels with hardening options, list them, and score kernel configurations.

    \b
    Example:  hardcost kernel build --option SLUB_DEBUG_ON=y
    """


@kernel.command()
@click.option(
    "--base",
    help="The configuration to start from: 'lean', or a file such as /boot/config-6.1.0 (default:"
    " the profile's, else lean).",
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
    help="An option to set; 'n' unsets it. May be repeated.",
)
@click.option(
    "--fragment",
    "fragments",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A file of options in the form of a kernel configuration. May be repeated.",
)
@click.option(
    "--patch",
    "patches",
    multiple=True,
    metavar="PATCH",
    shell_complete=completion.patches,
    help="A patch to the source: a file, a folder of patches, or a series that comes with hardcost,"
    " such as flat. May be repeated.",
)
@click.option(
    "--profile",
    shell_complete=completion.profiles,
    help="Set the kernel options of this profile, such as kspp.",
)
@click.option("--jobs", type=click.IntRange(1, 256), help="How many compilers run at a time.")
@click.option(
    "--workers",
    metavar="ADDRESS",
    help="Build on a worker of this Dask scheduler (tls://host:8786), which `hardcost worker`"
    " starts; the kernel comes into this host's cache.",
)
@_TLS_CA
@_TLS_CERT
@_TLS_KEY
@_INSECURE
@unconfined_option()
@format_option()
@carried_out_by("hardcost.cli.kernel:build")
def build() -> None:
    """Build a kernel, unless it exists, and print its path.

    Every option is checked in the finished configuration. An option that a profile takes from the
    catalogue and that the base can't have is reported and skipped; any other is an error.

    Makefiles, Kconfig and scripts run on this machine while a kernel is built, and a patch or a
    source of yours may change them. So kernels are built in a sandbox: without network, without
    your files, and with write access to the build's own folder only.

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
    """List the kernels that were built, with options, patches and score.

    \b
    Example:  hardcost kernel list --format json
    """


@kernel.command()
@click.argument("file", type=click.Path(path_type=Path))
@format_option()
@carried_out_by("hardcost.cli.kernel:check")
def check() -> None:
    """List the catalogue's hardening options that the kernel configuration FILE lacks.

    Exit status 1 if it lacks any.

    \b
    Example:  hardcost kernel check /boot/config-$(uname -r)
    """
