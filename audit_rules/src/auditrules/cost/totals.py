"""The cost of a set of rules for a mix of calls: by call, and by rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from auditrules.cost.call_classes import Alike
from auditrules.cost.constants import Constants
from auditrules.cost.events import of_number
from auditrules.cost.idle_rules import Waste, waste_by_rule
from auditrules.cost.limits import unpriced_rules
from auditrules.cost.measurement import OperationCost, TimePrices
from auditrules.cost.predict import Histogram, Prediction, Price, price
from auditrules.kernel.semantics import Loaded
from auditrules.load.loaded_set import LoadedSet
from auditrules.tables.lookup import Arch


@dataclass(frozen=True)
class Priced:
    """A rule set's price for a mix of calls; `rows` are measurements, if there are any.

    `assumed`: the mix is not the user's. `unused` are names of users and groups that are not known,
    and priced as unused ids. `prices` are those of a machine, in nanoseconds; None: the
    unit is instructions.
    """

    constants: Constants
    rules: LoadedSet
    loaded: Loaded
    mix: Histogram
    assumed: bool
    unused: tuple[str, ...] = ()
    rows: Sequence[OperationCost] = ()
    prices: TimePrices | None = None

    @property
    def unit(self) -> str:
        """The unit of all costs: ns where they are times of a machine, else insn."""
        return "ns" if self.constants.timed else "insn"

    @cached_property
    def _alike(self) -> Alike:
        """The predictor of calls; those that no rule distinguishes are walked once."""
        return Alike(self.constants, self.loaded)

    @cached_property
    def price(self) -> Price:
        """The price of the mix."""
        return price(self.mix, self._alike.predict)

    @cached_property
    def wastes(self) -> Mapping[int, tuple[Waste, ...]]:
        """Why rules cost without firing, by index."""
        return waste_by_rule(self.loaded)

    @cached_property
    def calls(self) -> tuple[tuple[Arch, int, Prediction], ...]:
        """The calls of the mix with their predictions, those that add most to the price first."""
        ordered = sorted(self.price.by_call.items(), key=lambda entry: -entry[1])
        return tuple(
            (arch, call, self._alike.predict(of_number(call, arch))) for (arch, call), _ in ordered
        )

    @cached_property
    def fixed(self) -> float:
        """The price of having any rule on the exit list, for a call of the mix on average."""
        whole = sum(one.fixed * self.mix[arch, call] for arch, call, one in self.calls)
        return whole / self.price.calls if self.price.calls else 0.0

    @cached_property
    def has_other(self) -> bool:
        """Whether calls pay something once beside the price of having any rule."""
        return any(one.base != one.fixed for _, _, one in self.calls)

    @cached_property
    def ranking(self) -> tuple[tuple[int, float], ...]:
        """The rules with the cost of each for a call of the mix on average, the largest first."""
        per_call = {
            index: self.price.by_rule.get(index, 0.0) / self.price.calls
            for index in range(len(self.loaded.rules))
        }
        return tuple(sorted(per_call.items(), key=lambda entry: (-entry[1], entry[0])))

    @cached_property
    def unpriced(self) -> frozenset[int]:
        """The rules that have no price, by index."""
        return frozenset(unpriced_rules(self.loaded))

    def work_out(self, tell: Callable[[str, float], None]) -> None:
        """Compute all that takes long; `tell` takes how far it is."""
        for nth, (arch, call) in enumerate(self.mix):
            tell("pricing each call", nth / len(self.mix))
            self._alike.predict(of_number(call, arch))
        tell("looking for rules that cost in vain", 0.0)
        _ = self.wastes
