"""How long set-up took on this machine: a line of JSON for each, in the cache."""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Mapping

from hardcost.files import json_value, own_file
from hardcost.supply.cache.cache import Cache

_FILE = "took.jsonl"
_READ_BYTES = 1 << 16  # from the end: the newest thousand or so


def remember(cache: Cache, what: str, seconds: float) -> None:
    """Note that something, such as `boot small`, took so long; what can't be noted is not."""
    line = json.dumps({"what": what, "seconds": round(seconds, 2)}) + "\n"
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    with (
        contextlib.suppress(OSError),
        os.fdopen(own_file(cache.root / _FILE, flags), "wb", 0) as file,
    ):
        file.write(line.encode())  # in one piece, between what other runs append


def past_seconds(cache: Cache) -> Mapping[str, list[float]]:
    """Return the seconds that each thing took, the newest last; lines that are damaged are not."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    with (
        contextlib.suppress(OSError),
        os.fdopen(own_file(cache.root / _FILE, os.O_RDONLY), "rb") as file,
    ):
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _READ_BYTES))
        for line in file:
            with contextlib.suppress(ValueError, TypeError, KeyError):
                entry = json_value(line)
                found[str(entry["what"])].append(float(entry["seconds"]))
    return found
