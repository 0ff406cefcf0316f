"""What the operators of conditions say of whole numbers, of any size and sign."""

from __future__ import annotations

import operator
from types import MappingProxyType
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import Operator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ORDERED: Mapping[Operator, Callable[[int, int], bool]] = MappingProxyType({
    Operator.LESS: operator.lt,
    Operator.LESS_OR_EQUAL: operator.le,
    Operator.GREATER: operator.gt,
    Operator.GREATER_OR_EQUAL: operator.ge,
})  # fmt: skip

COMPARED: Mapping[Operator, Callable[[int, int], bool]] = MappingProxyType({
    **ORDERED,
    Operator.EQUAL: operator.eq,
    Operator.NOT_EQUAL: operator.ne,
})  # fmt: skip
"""Those with bits aside, which only other fields take (`check_operator`)."""
