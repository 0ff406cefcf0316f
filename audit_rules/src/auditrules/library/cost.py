"""The predicted cost of audit rules for each system call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass

from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.cost.measurement import OperationCost, TimePrices
from auditrules.cost.predict import Histogram
from auditrules.cost.totals import Priced
from auditrules.kernel import semantics
from auditrules.library.caller import Caller
from auditrules.library.reading import RulesRequest, read
from auditrules.load.loaded_set import LoadedSet
from auditrules.model.kernel_rule import KernelRule
from auditrules.prove.unknown_ids import numbers_for, resolve_ids

Measure = Callable[[Sequence[KernelRule]], tuple[OperationCost, ...]]
"""Measures rules as the kernel holds them."""


@dataclass(frozen=True)
class CostRequest(RulesRequest):
    """A request for the cost of a mix of calls (None: of a general-purpose system)."""

    _: KW_ONLY
    mix: Histogram | None = None


def cost(request: CostRequest, caller: Caller | None = None) -> Priced:
    """Predict the cost of rules for each call, in instructions on Debian's kernel.

    Raises:
        InputError: A rule can't be read or loaded.
    """
    caller = caller or Caller()
    return price(read(request, caller), Constants.of_debian(), request.mix, caller)


def price(  # noqa: PLR0913  (rules, and what they are priced by)
    rules: LoadedSet,
    constants: Constants,
    mix: Histogram | None,
    caller: Caller,
    *,
    prices: TimePrices | None = None,
    measure: Measure = lambda _rules: (),
) -> Priced:
    """Return the cost of rules for each call of a mix (None: of a general-purpose system).

    `prices` are the fitted prices that the constants are of, if they are in nanoseconds.
    """
    with caller.work() as tell:
        tell("loading the rules")
        rules = rules.load_by(constants.auditctl)
        numbers = numbers_for(rules.guessed, {})
        kept = resolve_ids(rules.guessed, numbers)
        loaded = semantics.load(kept)
    priced = Priced(
        constants=constants,
        rules=rules,
        loaded=loaded,
        mix=general() if mix is None else mix,
        assumed=mix is None,
        unused=tuple(name for _, name in numbers),
        rows=measure(kept),
        prices=prices,
    )
    with caller.work() as tell:
        priced.work_out(tell)
    return priced
