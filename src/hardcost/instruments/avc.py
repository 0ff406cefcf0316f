"""`avc` counts SELinux's lookups in its cache of decisions, and the hits.

The counts are the kernel's own (`/sys/fs/selinux/avc/cache_stats`), of all processes, the probe's
included. Without SELinux there is nothing to count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hardcost.instruments.watch import steps
from hardcost.model.observation import Observed
from hardcost.protocol.answers import Answer, WatchedAnswer, only

NAME = "avc"
TITLE = "SELinux's cache of decisions: lookups, hits, misses, reclaims"
WATCH: Final = "avc"


def observation_of(answers: Sequence[Answer]) -> Observed:
    """Return the counts; none where SELinux is off.

    Raises:
        TrialError: Nothing was watched.
    """
    seen = only(answers, WatchedAnswer)
    if seen.avc is None:
        return Observed(instrument=NAME, unit_of_totals="count", own_ticks=seen.own_ticks)
    return Observed(
        instrument=NAME,
        unit_of_totals="count",
        totals=dict(seen.avc.totals),
        times=seen.times,
        series=dict(seen.avc.series),
        steps=steps(answers),
        own_ticks=seen.own_ticks,
    )
