"""`time` reads the guest's clock: real time under KVM, an emulator's time without it.

It is noisy, so each configuration is measured several times, interleaved with the others.
"""

from __future__ import annotations

from hardcost.instruments.instrument import Instrument
from hardcost.units import Unit

TIME = Instrument(
    name="time",
    title="nanoseconds on the guest's clock",
    clock="monotonic",
    per_op=Unit.NS_PER_OP,
    whole=Unit.NS,
    exact=False,
    repetitions=5,
)
