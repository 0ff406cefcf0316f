"""The default location of the store."""

from __future__ import annotations

import os
import shlex
from pathlib import Path


def default_path() -> Path:
    """Return `$HARDCOST_STORE`, else `hardcost/hardcost.sqlite` in the user's data folder."""
    own = os.environ.get("HARDCOST_STORE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local/share") / "hardcost" / "hardcost.sqlite"


def store_words(store: Path) -> str:
    """Return the option that names a store, with a blank before it; "" for the default one."""
    return "" if store == default_path() else f" --store {shlex.quote(str(store))}"


def report_of(store: Path, run: str) -> Path:
    """Return where a run's HTML report is, unless `--report` has named another place."""
    return store.parent / "reports" / f"{run}.html"
