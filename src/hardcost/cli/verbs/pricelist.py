"""`hardcost pricelist`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import click

from auditrules.cli.options import FORMATS, NamedPath, option, takes
from hardcost.cli.command import VerbGroup
from hardcost.cli.input import completion
from hardcost.cli.input.options import MeasuringOptions, measures


def _output_option(metavar: str, text: str) -> Any:
    path = NamedPath()
    return option("-o", "--output", metavar=metavar, required=True, type=path, help=text)


@dataclass(frozen=True)
class _BuildOptions:
    """The options of `hardcost pricelist build` alone."""

    output: Path = _output_option("FILE", "The file of the list, whose name ends in .jsonl.")
    kind: Literal["settings", "modules", "options", "records"] = option(
        "--kind",
        type=click.Choice(["settings", "modules", "options", "records"]),
        default="settings",
        help="What is measured if no CONTROL is named: boot parameters and sysctls, security"
        " modules, kernel options, or settings in a guest that writes audit records.",
    )
    within: str | None = option(
        "--within",
        metavar="PROFILE",
        shell_complete=completion.profiles,
        help="Measure what each boot parameter and sysctl of PROFILE costs while its others are on,"
        " instead of by itself.",
    )


@dataclass(frozen=True)
class _SiteOptions:
    """The options of `hardcost pricelist site`."""

    output: Path = _output_option("FOLDER", "The folder of the pages; it has to be empty or new.")
    force: bool = option("--force", is_flag=True, help="Write over pages that are there already.")


@click.group(cls=VerbGroup)
def pricelist() -> None:
    """Measure a price list, or write the prices as pages.

    \b
    Examples:  hardcost pricelist build -o 6.12.jsonl --kernel debian:6.12
               hardcost pricelist site -o prices
    """


@pricelist.command()
@click.argument("controls", nargs=-1, metavar="[CONTROL]...", shell_complete=completion.priced)
@takes("own", _BuildOptions)
@measures(FORMATS)
def build(controls: tuple[str, ...], own: _BuildOptions, shared: MeasuringOptions) -> None:
    """Measure each CONTROL by itself on a kernel, and write the list of their prices.

    Without CONTROL, every boot parameter and sysctl of the catalogue and the benchmarks is
    measured. Security modules need a whole Debian guest, and kernel options a kernel that is built
    for each: these make lists of their own (--kind). A control that the kernel lacks is in the
    list, with the reason why it has no price.

    The run is saved as others are: what was measured before is reused, --resume continues one that
    was interrupted, and --workers spreads it over hosts.

    \b
    Examples:  hardcost pricelist build -o 6.1.jsonl
               hardcost pricelist build -o 6.12.jsonl --kernel debian:6.12
               hardcost pricelist build --kind modules -o modules.jsonl
               hardcost pricelist build --kind options -o options.jsonl
               hardcost pricelist build --within rhel9-stig -o within.jsonl
               hardcost pricelist build init_on_alloc=1 -o one.jsonl --dry-run
    """
    from auditrules.cli import results
    from auditrules.library.files import check_put, put
    from hardcost.cli.console import console
    from hardcost.cli.input import requests
    from hardcost.cli.output import dry_run
    from hardcost.instruments.insn import INSN
    from hardcost.library.pricelist import PriceListRequest, build_list, preview_list
    from hardcost.prices.price_list import written

    check_put(own.output, "-o")
    how = requests.measuring(shared, INSN.name)
    request = PriceListRequest(controls, kind=own.kind, within=own.within, how=how)
    found = dry_run.call_or_show_plan(build_list, preview_list, request, shared)
    put(own.output, written(found).encode())
    if shared.format == "json":
        results.print_json(found)
    unpriced = [one for one in found.prices if one.why is not None]
    console.note(
        f"{own.output}: {len(found.prices)} controls on Linux {found.kernel},"
        f" {len(unpriced)} of them without a price"
    )
    for one in unpriced:
        console.note(f"{one.control}: {one.why}")


@pricelist.command()
@takes("own", _SiteOptions)
def site(own: _SiteOptions) -> None:
    """Write the prices that come with hardcost as static pages.

    A page for each setting and for each audit rule of a benchmark, with what it adds to each call
    on each kernel; a table for each benchmark; a search on the front page. The pages load nothing,
    need no server, and have the same addresses whenever they are written.

    \b
    Example:  hardcost pricelist site -o prices
    """
    from hardcost.cli.console import console, progress
    from hardcost.cli.output import export_file
    from hardcost.library.price_overview import overview, size
    from hardcost.show.site.site import FRONT, pages

    with progress.monitor_of("auto").stage("controls of benchmarks", size()) as advance:
        found = overview(advance)
    written = pages(found.prices, found.benchmarks)
    export_file.to_folder(own.output, written, force=own.force)
    console.note(f"{len(written)} pages written to {own.output}; open {own.output / FRONT}")
