"""`parallel` counts instructions on several emulated processors at once.

A processor that does nothing but count is the clock. What another could have executed meanwhile is
a load's length in *parallel instructions*: work, waiting for locks and for other processes. It
repeats bit for bit, as `insn` does, and knows no more of caches. docs/processors.md says when it
can be believed: it has to agree at two lengths of QEMU's turns.
"""

from __future__ import annotations

from hardcost.instruments.instrument import Instrument
from hardcost.units import Unit

PARALLEL = Instrument(
    name="parallel",
    title="parallel instructions: how long several emulated processors take, exactly",
    clock="parallel",
    per_op=Unit.PARALLEL_PER_OP,
    whole=Unit.PARALLEL,
    exact=True,
    repetitions=1,
)

MOST_PROCESSORS = 16
"""The most that can be measured."""

FIRST_MEASURED = 2
"""The first processor that is measured: 0 has the clock, and 1 is kept free of work."""
