"""`hardcost kernel`: kernels built with hardening options, and kept."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from hardcost.cli import options
from hardcost.cli.console import note, show
from hardcost.cli.lazy import with_dask
from hardcost.cli.monitors import monitor_of
from hardcost.cli.waiting import until_done
from hardcost.controls.apply import kernel as recipe_of
from hardcost.controls.control import KernelOption
from hardcost.errors import InputError
from hardcost.machines import kernelconfig
from hardcost.machines.builtkernel import kept
from hardcost.machines.cache import Cache
from hardcost.machines.kernelbuilding import kernels
from hardcost.machines.machine import KernelRecipe
from hardcost.profiles import catalogue
from hardcost.profiles.kernel import kernelscore
from hardcost.report.text import visible

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.machines.builtkernel import Built
    from hardcost.profiles.kernel.kernelscore import Score


def build(  # noqa: PLR0913  (click's options)
    *,
    base: str | None,
    source: Path | None,
    single: tuple[str, ...],
    fragments: tuple[Path, ...],
    patches: tuple[str, ...],
    profile: str | None,
    jobs: int | None,
    allow_unconfined_build: bool,
    format: str,  # noqa: A002
    **where: Any,  # noqa: ANN401  (click's options)
) -> None:
    """Build a kernel, unless it was built before, and say where it lies; `where`, on workers."""
    cache, lab = Cache(), options.lab(where)
    monitor = monitor_of("auto")
    made = kernels(cache, monitor, source, jobs, unconfined=allow_unconfined_build)
    recipe, own = _recipe(base, profile, fragments, single)
    made.announce(monitor.note)
    recipe = replace(recipe, patches=(*recipe.patches, *patches))
    note("asking Kconfig which options it accepts …")
    if recipe.tolerant:
        for unmet in made.unmet(recipe):
            if unmet.option not in own:
                note(f"{unmet.option}={unmet.wanted} is not what Kconfig sets: {unmet.why}")
    made.check(recipe, own if recipe.tolerant else None)
    if lab is not None and made.find(recipe) is None:
        builders = with_dask("hardcost.run.workers.spreadmachine:builders")
        with builders("vm", lab, monitor.note, until_done) as builder:
            until_done(made.built_by(recipe, builder))
    _present((until_done(made.build(recipe)),), format)


def list_(format: str) -> None:  # noqa: A002
    """List the kernels that were built, with their options, patches and score."""
    _present(tuple(kept(Cache())), format)


def check(file: Path, format: str) -> None:  # noqa: A002
    """Say which hardening options of the catalogue the kernel configuration FILE lacks."""
    score = kernelscore.score(kernelconfig.read(kernelconfig.file_text(file), str(file)))
    if format == "json":
        print(json.dumps(_score_data(score, every=True), indent=2))
    else:
        click.echo(f"{visible(str(file))}: {shown(score)}")
        table = Table()
        for column in ("option", "recommended", "found", "severity"):
            table.add_column(column, overflow="fold")
        for lack in score.missing:
            table.add_row(lack.name, lack.wanted, visible(lack.found), lack.severity)
        show(table)
    if score.missing:
        raise click.exceptions.Exit(1)


def _recipe(
    base: str | None, profile: str | None, fragments: tuple[Path, ...], single: tuple[str, ...]
) -> tuple[KernelRecipe, frozenset[str]]:
    """Return what is to be built: a profile's options, then fragments', then single ones.

    Also the names of the options that were asked for one by one.

    Raises:
        InputError: A profile, a file or an option is not as it should be.
    """
    recipe = KernelRecipe()
    if profile is not None:
        found = recipe_of(catalogue.load(profile, options.package_root).controls)
        if found is None or not (found.options or found.patches):
            raise InputError(f"the profile {profile} has no kernel options and no patches")
        recipe = found
    wanted: dict[str, str] = {}
    for path in fragments:
        wanted |= kernelconfig.read(kernelconfig.file_text(path), str(path))
    for text in single:
        try:
            option = KernelOption.of(text)
        except ValueError as error:
            raise InputError(f"--option: {error}") from None
        wanted[option.option] = option.value
    together = replace(recipe, base=base or recipe.base, options=(*recipe.options, *wanted.items()))
    return together, frozenset(wanted)


def _present(found: tuple[Built, ...], form: str) -> None:
    if form == "json":
        print(json.dumps([_data(one) for one in found], indent=2))
        return
    table = Table()
    for column in ("name", "release", "base", "options", "patches", "score", "seconds", "image"):
        table.add_column(column, overflow="fold", no_wrap=column == "name")
    for one in found:
        about = one.about
        set_here = len(about["options"].split())
        named = about["options"] if set_here <= 3 else f"{set_here} options"  # noqa: PLR2004
        score, seconds = shown(_score(one)), about["seconds"]
        row = (one.name, one.release, about["base"], named, _applied(one), score, seconds)
        table.add_row(*map(visible, row), visible(str(one.image)))
    show(table)


def _applied(one: Built) -> str:
    """Return the patches of a kernel for a reader: those of a folder by its name and number."""
    folders = Counter(name.partition("/")[0] for name in one.patches)
    return ", ".join(f"{name} ({count})" if count > 1 else name for name, count in folders.items())


def shown(score: Score) -> str:
    """Return a score for a reader."""
    return f"{score.met} of {score.total}"


def _score(one: Built) -> Score:
    return kernelscore.score(kernelconfig.read(one.config.read_text(), str(one.config)))


def _data(one: Built) -> dict[str, object]:
    return {
        "name": one.name,
        "release": one.release,
        "image": str(one.image),
        "symbols": str(one.symbols),
        "config": str(one.config),
        "score": _score_data(_score(one)),
        **one.about,
        "patches": list(one.patches),
    }


def _score_data(score: Score, *, every: bool = False) -> dict[str, object]:
    failed = [
        {
            "option": lack.name,
            "recommended": lack.wanted,
            "found": lack.found,
            "severity": lack.severity,
        }
        for lack in score.missing
    ]
    counts: dict[str, object] = {"met": score.met, "of": score.total}
    return {**counts, "options": failed} if every else counts
