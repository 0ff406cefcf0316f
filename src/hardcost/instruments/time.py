"""`time` reads the clock of a guest, under KVM or an emulator, or of a real machine.

It is noisy, so each configuration is measured several times, interleaved with the others.
"""

from __future__ import annotations

from hardcost.instruments.instrument import Instrument
from hardcost.units import Unit

TIME = Instrument(
    name="time",
    title="nanoseconds on the clock of the guest or machine",
    clock="monotonic",
    per_op=Unit.NS_PER_OP,
    whole=Unit.NS,
    exact=False,
    repetitions=5,
)
