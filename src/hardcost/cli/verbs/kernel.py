"""`hardcost kernel`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from auditrules.cli.options import FormatOptions, NamedPath, format_option, option, takes
from hardcost.cli.command import VerbGroup
from hardcost.cli.input import completion
from hardcost.cli.input.options import insecure_option, tls_option, unconfined_option
from hardcost.cli.verb import CLUSTER


@dataclass(frozen=True)
class _BuildOptions:
    """The options of `hardcost kernel build`."""

    base: str | None = option(
        "--base",
        metavar="NAME|FILE",
        help="The kernel configuration to start from: 'lean', which comes with hardcost, or a file"
        " such as /boot/config-6.1.0 (default: the profile's, else lean).",
    )
    source: Path | None = option(
        "--source",
        type=NamedPath(),
        help="The Linux source: a folder, or debian:VERSION such as debian:7.3 (default: Debian"
        " 12's package linux-source-6.1).",
    )
    options: tuple[str, ...] = option(
        "--option",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set a kernel option, such as SLUB_DEBUG_ON=y; 'n' unsets it. May be repeated.",
    )
    fragments: tuple[Path, ...] = option(
        "--fragment",
        multiple=True,
        type=NamedPath(),
        help="Set the options in this file, which has the form of a .config. May be repeated.",
    )
    patches: tuple[str, ...] = option(
        "--patch",
        multiple=True,
        metavar="PATCH",
        shell_complete=completion.patches,
        help="Patch the source: a file, a folder of patches, or a series that comes with hardcost,"
        " such as flat. May be repeated.",
    )
    profile: str | None = option(
        "--profile",
        metavar="PROFILE",
        shell_complete=completion.profiles,
        help="Set the kernel options of this profile, such as kspp.",
    )
    jobs: int | None = option(
        "--jobs", metavar="N", type=click.IntRange(1, 256), help="How many compilers run at a time."
    )
    allow_unconfined_build: bool = unconfined_option()
    workers: str | None = option(
        "--workers",
        section=CLUSTER,
        metavar="ADDRESS",
        help="Build on a worker of this Dask scheduler (tls://host:8786), which `hardcost worker`"
        " starts; the kernel is then copied into this host's cache.",
    )
    tls_ca: Path | None = tls_option("ca", CLUSTER)
    tls_cert: Path | None = tls_option("cert", CLUSTER)
    tls_key: Path | None = tls_option("key", CLUSTER)
    insecure: bool = insecure_option(CLUSTER)
    format: str = format_option()


@click.group(cls=VerbGroup)
def kernel() -> None:
    """Build kernels with hardening options, list them, and check kernel configurations.

    \b
    Example:  hardcost kernel build --option SLUB_DEBUG_ON=y
    """


@kernel.command()
@takes("own", _BuildOptions)
def build(own: _BuildOptions) -> None:
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
    from auditrules.cli import results
    from hardcost.cli.console import progress, tables
    from hardcost.cli.input import requests
    from hardcost.library import kernels

    request = kernels.KernelRequest(
        base=own.base,
        source=own.source,
        options=own.options,
        fragments=own.fragments,
        patches=own.patches,
        profile=own.profile,
        jobs=own.jobs,
        unconfined=own.allow_unconfined_build,
        lab=requests.lab(own.workers, own.tls_ca, own.tls_cert, own.tls_key, insecure=own.insecure),
    )
    found = (kernels.build(request, progress.monitor_of("auto")),)
    if own.format == "json":
        results.print_json(found)
    else:
        tables.show_rows(kernels.COLUMNS, [one.row for one in found])


@kernel.command(name="list")
@takes("result", FormatOptions)
def list_(result: FormatOptions) -> None:
    """List the kernels that were built, with their options and patches.

    The score says how many of the hardening options that hardcost knows a kernel has.

    \b
    Example:  hardcost kernel list --format json
    """
    from auditrules.cli import results
    from hardcost.cli.console import tables
    from hardcost.library import kernels

    found = kernels.built_kernels()
    if result.format == "json":
        results.print_json(found)
    else:
        tables.show_rows(kernels.COLUMNS, [one.row for one in found])


@kernel.command()
@click.argument("file", type=NamedPath())
@takes("result", FormatOptions)
def check(file: Path, result: FormatOptions) -> None:
    """List the hardening options that a kernel configuration lacks.

    FILE is a .config, such as /boot/config-6.1.0. It is compared with the hardening options that
    hardcost knows. Exit status 1 if it lacks any.

    \b
    Example:  hardcost kernel check /boot/config-$(uname -r)
    """
    from auditrules.cli import results
    from hardcost.cli.console import tables
    from hardcost.library import kernels
    from hardcost.units import visible

    found = kernels.check_configuration(file)
    if result.format == "json":
        results.print_json(found)
    else:
        click.echo(f"{visible(str(file))}: {found}")
        rows = [(one.option, one.recommended, one.found, one.severity) for one in found.options]
        tables.show_rows(("option", "recommended", "found", "severity"), rows)
    if found.options:
        raise click.exceptions.Exit(1)
