"""The default location of the store."""

from __future__ import annotations

import os
from pathlib import Path


def default_path() -> Path:
    """Return `$HARDCOST_STORE`, else `hardcost/hardcost.sqlite` in the user's data folder."""
    own = os.environ.get("HARDCOST_STORE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_DATA_HOME")
    return (Path(base) if base else Path.home() / ".local/share") / "hardcost" / "hardcost.sqlite"


def report_of(store: Path, run: str) -> Path:
    """Return where a run's HTML report is, unless `--report` has named another place."""
    return store.parent / "reports" / f"{run}.html"
