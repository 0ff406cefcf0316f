"""How hardcost uses Dask, whichever side it is: what Dask logs, waits for and raises."""

from __future__ import annotations

import logging
import os

import dask.config

DASK_ERRORS = (OSError, RuntimeError, ValueError)
"""What Dask raises where a connection is lost, refused or late; its own are subclasses."""

NO_SCHEDULER = "`hardcost cluster scheduler` starts one; with TLS, both sides need certificates"
"""The remedy where no scheduler answers."""


def quieten() -> None:
    """Silence Dask's log but for fatal errors: hardcost reports itself what matters to a user."""
    if not os.environ.get("HARDCOST_DEBUG"):
        for name in ("distributed", "tornado.application"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    # A run's scheduler that is gone is not waited for: what was measured is in the store. Workers
    # sample their own stacks a hundred times a second for Dask's dashboard, which hardcost does not
    # show.
    dask.config.set(
        {
            "distributed.comm.timeouts.connect": "10s",
            "distributed.worker.profile.enabled": False,
        }
    )
