"""The instruments by name."""

from __future__ import annotations

from hardcost.errors import InputError
from hardcost.instruments.insn import INSN
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.time import TIME

RECORDERS = ("cpu", "audit", "avc")
"""The names of the recorders, which observe beside one of these."""

INSTRUMENTS = {instrument.name: instrument for instrument in (INSN, PARALLEL, TIME)}


def instrument_named(name: str) -> Instrument:
    """Return the instrument called `name`.

    Raises:
        InputError: There is none.
    """
    try:
        return INSTRUMENTS[name]
    except KeyError:
        raise InputError(
            f"there is no instrument '{name}'", hint=f"there are {', '.join(INSTRUMENTS)}"
        ) from None
