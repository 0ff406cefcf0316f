"""`hardcost list`."""

from __future__ import annotations

import fnmatch
import itertools
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from auditrules.cli.options import takes
from auditrules.cli.verb import Verb
from hardcost.cli.input.options import StoreOptions


@click.command(name="list", cls=Verb)
@click.argument(
    "what",
    metavar="WHAT",
    type=click.Choice(
        [
            *("controls", "profiles", "workloads", "instruments", "studies", "machines", "runs"),
            "kernel-options",
        ]
    ),
)
@click.argument("patterns", nargs=-1, metavar="[PATTERN]...")
@takes("own", StoreOptions)
def list_(what: str, patterns: tuple[str, ...], own: StoreOptions) -> None:
    """List controls, profiles, workloads, instruments, studies, machines or runs.

    \b
    WHAT is one of
      controls        settings that the ready-made profiles have, with their prices, as
                      `hardcost price` knows them, and their ids in benchmarks
      profiles        ready-made sets of controls: STIG, CIS, KSPP and others, with the price of
                      the dearest control of each
      workloads       what can be run to measure a cost
      instruments     what measures: instructions counted exactly, or the clock
      studies         ready-made comparisons
      machines        where to measure
      runs            what was measured, the newest first
      kernel-options  options, with the values that the catalogue recommends and three vendors chose

    PATTERN shows only what contains it, in any column, in upper or lower case; * and ? stand for
    any characters. Of several, each has to be contained. Exit status 1 if nothing matches.

    Nothing is fetched: controls from a Debian package that was never needed are not known yet.

    \b
    Examples:  hardcost list profiles
               hardcost list controls /etc/shadow
               hardcost list controls kspp 'init_on_*'
               hardcost list runs --format json
               hardcost list kernel-options hardened
    """
    from auditrules.cli import results
    from hardcost.cli.console import console

    every = _entries(what, own.store)
    rows = [row for row in every if all(_contains(row, one) for one in patterns)]
    if own.format == "json":
        results.print_json(rows)
    elif rows:
        _show(what, rows)
    elif not patterns:
        console.note("nothing yet")
    if patterns and not rows:
        console.note(f"no {what} match {' and '.join(map(repr, patterns))}")
        if what == "controls":
            _note_benchmark(patterns)
    unknown = [str(row["profile"]) for row in every if row.get("mechanism") == "unknown"]
    if patterns and unknown:
        said = f"not known here until they are billed once: the controls of {', '.join(unknown)}"
        console.note(said)
    if patterns and not rows:
        raise click.exceptions.Exit(1)


def _entries(what: str, store: Path) -> Sequence[Mapping[str, object]]:
    """Return what there is, each with the fields of its model."""
    from hardcost.cli.console import console, progress

    if what == "runs":
        from hardcost.show.store import RunEntry
        from hardcost.store import read_only

        found = read_only.runs(store)
        for damage in (*found.lost, *found.damaged):
            console.note(f"left out: {damage}")
        return [RunEntry.of(run).model_dump() for run in found.runs]
    from hardcost.library import listing

    if what in {"controls", "profiles"}:
        of = listing.controls if what == "controls" else listing.profiles
        with progress.monitor_of("auto").stage("profiles", listing.number_of_profiles()) as read:
            return [one.model_dump() for one in of(read)]
    if what == "kernel-options":
        return listing.kernel_options()
    if what == "workloads":
        return [one.model_dump() for one in listing.workloads()]
    return [one.model_dump() for one in listing.titled_entries(what)]


def _contains(row: Mapping[str, object], pattern: str) -> bool:
    """Say whether a row has what a pattern says, as it stands or with wildcards."""
    texts = [
        " ".join(map(str, one)) if isinstance(one, tuple) else str(one) for one in row.values()
    ]
    wanted = pattern.lower()
    return any(
        wanted in text or fnmatch.fnmatchcase(text, f"*{wanted}*") for text in map(str.lower, texts)
    )


def _note_benchmark(patterns: tuple[str, ...]) -> None:
    """Report the patterns that are benchmarks' names of controls, and which verbs take them."""
    from hardcost.cli.console import console
    from hardcost.errors import InputError
    from hardcost.profiles.benchmark_ids import is_name, requirements_of

    for one in filter(is_name, patterns):
        try:
            found = requirements_of(one)
        except InputError as error:
            console.note(str(error))
        else:
            console.note(f"{found.title}; {found.source}; `hardcost bill {one}` measures it")


def _show(what: str, rows: Sequence[Mapping[str, object]]) -> None:
    from hardcost.cli.console import console
    from hardcost.units import visible

    if what == "controls":
        for profile, controls in itertools.groupby(rows, key=lambda row: str(row["profile"])):
            console.print_wrapped(profile, 0)
            for row in controls:
                console.print_wrapped(str(row["control"]), 2)
                console.print_wrapped(str(row["price"]), 6)
                console.print_wrapped(str(row["ids"]), 6)
    elif what == "profiles":
        for row in rows:
            console.print_wrapped(str(row["name"]), 0)
            console.print_wrapped(str(row["title"]), 2)
            console.print_wrapped(str(row["price"]), 2)
    elif what == "runs":
        from hardcost.show.store import RunEntry

        for entry in map(RunEntry.model_validate, rows):
            console.print_wrapped(entry.run, 0)
            for text in entry.words:
                console.print_wrapped(text, 2)
    elif what == "workloads":
        from hardcost.cli.console import tables
        from hardcost.library.listing import WorkloadEntry

        console.note("`--format json` says what each parameter means")
        found = map(WorkloadEntry.model_validate, rows)
        texts = [(one.name, ", ".join(one.parameter_names) or "-", one.what) for one in found]
        head = ["name", "parameters", "what"]
        tables.print_table([head, *([visible(text) for text in one] for one in texts)])
    else:
        from hardcost.cli.console import tables

        values = [[visible(str(text)) for text in row.values()] for row in rows]
        tables.print_table([list(rows[0]), *values])
    sys.stdout.flush()  # before any note that follows on stderr
