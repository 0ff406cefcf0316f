"""`insn` counts guest instructions in an emulated machine whose clock is the instruction counter.

It repeats bit for bit on any host under any load. It knows nothing of caches, branch prediction or
waiting for disks: it says what work was added, never what is waited for.
"""

from __future__ import annotations

from hardcost.instruments.instrument import Instrument
from hardcost.units import Unit

INSN = Instrument(
    name="insn",
    title="guest instructions, counted exactly under emulation",
    clock="tsc",
    per_op=Unit.INSN_PER_OP,
    whole=Unit.INSN,
    exact=True,
    repetitions=1,
)
