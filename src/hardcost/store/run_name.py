"""The names of runs: made so that a report can be called by them, and checked when they are read.

A name comes out of a file that others may have written, and becomes the name of a report.
"""

from __future__ import annotations

_LONGEST = 240  # bytes; a file's name has at most 255, with its ending
_LONGEST_STUDY = 160  # bytes; the rest is the time


def make_name(study: str, rest: str) -> str:
    """Return the name of a run of a study; `rest` distinguishes it from others."""
    plain = "".join(one if one.isprintable() and one != "/" else "-" for one in study).lstrip(".")
    short = plain.encode("utf-8", "replace")[:_LONGEST_STUDY].decode("utf-8", "ignore")
    return f"{short or 'run'}-{rest}"


def is_name(name: object) -> bool:
    """Say whether something can be a run's name: printable, no path, and no hidden file's."""
    return (
        isinstance(name, str)
        and name.isprintable()
        and "/" not in name
        and not name.startswith(".")
        and 0 < len(name.encode("utf-8", "surrogatepass")) <= _LONGEST
    )
