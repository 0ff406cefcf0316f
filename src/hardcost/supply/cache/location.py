"""Where the cache is."""

from __future__ import annotations

import os
from pathlib import Path


def default_root() -> Path:
    """Return `$HARDCOST_CACHE`, else `hardcost` in the user's cache folder."""
    own = os.environ.get("HARDCOST_CACHE")
    if own:
        return Path(own)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "hardcost"
