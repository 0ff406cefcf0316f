"""What settings do to the writing of audit records, which is no price of a setting alone.

What frees or allocates memory more slowly makes each record more expensive. A list says what each
setting adds to calls that are recorded; the list of the same kernel says what it adds to the same
calls where they are not. The difference is the setting's share in the writing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from hardcost.mechanisms.boot import AUDIT_ON
from hardcost.prices.price_list import ListedPrice, PriceList

_PLAIN = "syscalls"


def added_to_records(control: str, recorded: PriceList, lists: Sequence[PriceList]) -> float | None:
    """Return what a control adds to the writing of records, as a share of what that takes.

    `recorded` is a list of recorded calls, `lists` are those of prices. None: it is not known.
    """
    if control == AUDIT_ON:  # it is on already where calls are recorded
        return 0.0
    there = recorded.price_of(control)
    if there is None or there.why is not None or there.missing:
        return None
    ((workload, calls),) = recorded.head.base.items()
    for plain in lists:
        alone, base = plain.price_of(control), plain.head.base.get(_PLAIN, {})
        if plain.version != recorded.version or alone is None or alone.why is not None:
            continue
        if not calls.keys() <= base.keys():
            continue
        writing = math.fsum(calls[name] - base[name] for name in calls)
        of_calls, of_plain = _costs(there, workload), _costs(alone, _PLAIN)
        added = math.fsum(of_calls.get(name, 0.0) - of_plain.get(name, 0.0) for name in calls)
        return added / writing if writing > 0 else None
    return None


def _costs(price: ListedPrice, workload: str) -> Mapping[str, float]:
    return {name: cost for name, (cost, _, _) in price.costs.get(workload, {}).items()}
