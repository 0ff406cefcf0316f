"""Names that TAB offers: cheap to look up, and never an error."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from hardcost.instruments.names import RECORDERS
from hardcost.machines.titles import TITLES
from hardcost.store.location import default_path
from hardcost.supply.cache.location import default_root
from hardcost.workloads.registry import FILES

_OURS = Path(__file__).parents[2]


def profiles(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the catalogue's profiles, and files."""
    return profile_items(begun)


def profile_items(begun: str) -> list[CompletionItem]:
    """Return the catalogue's profiles that begin so, and the shell's own file names."""
    return _or_files(_names(_OURS / "profiles" / "catalogue"), begun)


def studies(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the ready-made studies, and files."""
    return _or_files(_names(_OURS / "study" / "ready"), begun)


def priced(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the controls that the price list is about."""
    # Only where TAB asks for them: the catalogue takes a while to read.
    from hardcost.prices.listed import listed  # noqa: PLC0415

    return [CompletionItem(one.name) for one in listed() if one.name.startswith(begun)]


def workloads(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer workloads, after those that the word already names."""
    return _after_commas(tuple(FILES), begun)


def machines(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the machines that lists show."""
    return [CompletionItem(one) for one in TITLES if one.startswith(begun)]


def recorders(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer recorders, after those that the word already names."""
    return _after_commas(RECORDERS, begun)


def kernels(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the host's kernel, those that hardcost has built, and files."""
    built = []
    with contextlib.suppress(OSError, RuntimeError):
        built = [str(path) for path in default_root().glob("kernels/*/vmlinux")]
    return _or_files(["host", *sorted(built)], begun)


def emulators(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the host's QEMU, those of Debian's releases, and files."""
    # Only where TAB asks for them: pydantic takes a while to import.
    from hardcost.supply.emulators import debian  # noqa: PLC0415

    return _or_files(["host", *(one.name for one in debian.fetchable())], begun)


def releases(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the releases of Debian that guests can be made of."""
    # Only where TAB asks for them: looking for programs takes a while to import.
    from hardcost.supply.packages import guest_release  # noqa: PLC0415

    return [CompletionItem(name) for name in guest_release.NAMES if name.startswith(begun)]


def patches(_context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the series of patches that come with hardcost, and files."""
    return _or_files(["flat"], begun)


def runs(context: click.Context, _word: click.Parameter, begun: str) -> list[CompletionItem]:
    """Offer the runs that the store holds, the newest first; one that can't be read has none."""
    return [CompletionItem(name) for name in _run_names(context) if name.startswith(begun)]


def runs_or_files(
    context: click.Context, _word: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the runs that the store holds, and files."""
    return _or_files(_run_names(context), begun)


def _run_names(context: click.Context) -> list[str]:
    # Only where TAB asks for runs: SQLite takes a while to import.
    from hardcost.errors import HardcostError  # noqa: PLC0415
    from hardcost.store import read_only  # noqa: PLC0415

    with contextlib.suppress(HardcostError, OSError, RuntimeError):
        return ["last", *read_only.names(context.params.get("store") or default_path())]
    return []


def cached_names(
    _context: click.Context, _word: click.Parameter, begun: str
) -> list[CompletionItem]:
    """Offer the names of the cache's entries."""
    found: list[str] = []
    with contextlib.suppress(OSError, RuntimeError):
        found = sorted({path.parent.name for path in default_root().glob("*/*/title")})
    return [CompletionItem(name) for name in found if name.startswith(begun)]


def _names(folder: Path) -> list[str]:
    """Return the names of the TOML files in one of our folders."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def _or_files(names: Iterable[str], begun: str) -> list[CompletionItem]:
    """Offer names that begin so, and the shell's own file names.

    The word of files stands first, since in bash it drops what stands before it.
    """
    fits = [CompletionItem(name) for name in names if name.startswith(begun)]
    return [CompletionItem(begun, type="file"), *fits]


def _after_commas(names: Iterable[str], begun: str) -> list[CompletionItem]:
    """Offer names for the part of a word after its last comma."""
    before, comma, last = begun.rpartition(",")
    return [CompletionItem(f"{before}{comma}{one}") for one in names if one.startswith(last)]
