"""A mix of calls, as a file has it."""

from __future__ import annotations

from pathlib import Path

from auditrules.cost.histogram import read
from auditrules.cost.predict import Histogram
from auditrules.library import files


def histogram(file: str | Path) -> Histogram:
    """Return how often each call is made, according to a file.

    Raises:
        InputError: The file contains no such counts.
    """
    return read(files.content(Path(file), "the histogram"), str(file))
