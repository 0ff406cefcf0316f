"""The prices of what is in force on a machine, weighed by how often each call is made."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from auditrules.cost import events
from auditrules.cost.constants import Constants
from auditrules.cost.predict import Histogram, Prediction, predict
from auditrules.kernel import semantics
from auditrules.load.load import load_rules
from auditrules.load.target import NOWHERE
from auditrules.model.kernel_rule import KernelRule
from auditrules.prove.unknown_ids import numbers_for, resolve_ids
from hardcost.analysis.bill.mix import of_histogram
from hardcost.controls.control import Control
from hardcost.in_force.found import InForce
from hardcost.library.price import NOT_LISTED, price_of_control
from hardcost.mechanisms.audit import AuditRule
from hardcost.mechanisms.boot import AUDIT_ON, BootParameter
from hardcost.model.finding.here import HereCall, HereItem
from hardcost.model.finding.price import ControlPrice, KernelPrice, dearest_call, linux_version
from hardcost.model.workload import MetricId, workload_of
from hardcost.prices.price_list import PriceList, lists_of_records, shipped_lists
from hardcost.prices.records import added_to_records
from hardcost.units import join_in_prose

_CALLS = workload_of("syscalls")
_VERSION = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})")
OVERLAP = "overlap"
"""The kind of what corrects the sum of single prices."""

_PAGE_POISON = "page_poison=1"
_SLAB_DEBUG = ("slub_debug", "slab_debug")
_NOTHING = (0.0, 0.0, 0.0)
_WORTH_SAYING = 0.005  # of what records take
_REFUSED = "auditctl or the kernel refuses it"
_OTHER = "no list has a price of what a profile can't have"
_WITHOUT_CONTROL = {
    "mitigation": "it depends on the processor, and counts of instructions do not show it",
    "BPF programs": "what a program does at each event is in no list",
    "daemon": "what a daemon does is measured with `hardcost bill`, and is in no list",
}


def lists_near(release: str) -> tuple[PriceList, ...]:
    """Return the price lists, those of the kernel that is nearest to a release first."""
    return _nearest_first(shipped_lists(), release)


def _nearest_first(lists: Sequence[PriceList], release: str) -> tuple[PriceList, ...]:
    wanted = _number(linux_version(release)) if release else 0.0
    return tuple(sorted(lists, key=lambda one: abs(_number(one.version) - wanted)))


def _number(version: str) -> float:
    """Return a version as a number whose differences say how far versions are apart."""
    found = _VERSION.fullmatch(version)
    return float(found[1]) * 100 + float(found[2]) if found is not None else 0.0


CostByCall = Mapping[str, float]
"""What something adds to each call, in instructions; a call that is not there gets nothing."""


@dataclass(frozen=True)
class RulePrices:
    """What audit rules add together.

    `first` is the part that any rule adds, once, whichever it is. `each` is what a rule adds, by
    its text: testing it, and writing the records for which it asks, which `records` has alone.
    `unpriced` says why a rule has no price.
    """

    total: CostByCall = field(default_factory=dict)
    first: CostByCall = field(default_factory=dict)
    each: Mapping[str, CostByCall] = field(default_factory=dict)
    records: Mapping[str, CostByCall] = field(default_factory=dict)
    unpriced: Mapping[str, str] = field(default_factory=dict)


class Pricing:
    """The prices of what is in force, weighed by a mix of calls."""

    def __init__(
        self, lists: Sequence[PriceList], mix: Histogram, constants: Constants | None = None
    ) -> None:
        """Take the lists, the nearest first; `constants` of audit rules' cost, else Debian's."""
        self._lists = lists
        self._records = _nearest_first(lists_of_records(), lists[0].kernel)
        self._constants = constants or Constants.of_debian()
        self._bases = next(of for one in lists if (of := one.head.base.get(str(_CALLS))))
        self._audited = self._with_audit_on()
        weighed = of_histogram(mix, [MetricId(one, _CALLS) for one in self._bases])
        self._weights = {one.name: weight for one, weight in weighed.weights.items()}
        self.covered = weighed.covered
        """The part of the mix's calls for which those stand that have prices."""

    @property
    def predicted_on(self) -> str:
        """The kernel for which audit rules are predicted."""
        return self._constants.about["kernel"]

    def share(self, costs: CostByCall) -> float:
        """Return costs as a share of what a call of the mix takes."""
        whole = math.fsum(weight * self._bases[name] for name, weight in self._weights.items())
        added = (weight * costs.get(name, 0.0) for name, weight in self._weights.items())
        return math.fsum(added) / whole if whole else 0.0

    def _with_audit_on(self) -> CostByCall:
        """Return what each call takes where audit is on."""
        listed = (of for one in self._lists if (of := one.price_of(AUDIT_ON)) is not None)
        costs = next((one.costs.get(str(_CALLS), {}) for one in listed if one.why is None), {})
        return {name: base + costs.get(name, _NOTHING)[0] for name, base in self._bases.items()}

    def calls(self, costs: CostByCall) -> tuple[HereCall, ...]:
        """Return what each call gets, those that grow most first."""
        found = (
            HereCall(name=name, cost=cost, share=cost / self._bases[name])
            for name, cost in costs.items()
            if cost
        )
        return tuple(sorted(found, key=lambda one: (-one.share, one.name)))

    def item(self, one: InForce, rules: RulePrices) -> tuple[HereItem, CostByCall]:
        """Return what is in force with its price, and what it adds to each call."""
        made = HereItem(
            id=f"{one.kind.replace(' ', '-')}:{one.name}",
            kind=one.kind,
            name=one.name,
            place=one.place,
            by_default=one.by_default,
            note=one.note,
        )
        if one.control is None:
            return replace(made, why=_WITHOUT_CONTROL.get(one.kind, _OTHER)), {}
        if not isinstance(one.control, AuditRule):
            return self._setting(made, one.control, rules)
        if one.name in rules.unpriced:
            return replace(made, why=rules.unpriced[one.name]), {}
        item, costs = self._priced(made, rules.each.get(one.name, {}), "predicted")
        records = self.share(rules.records.get(one.name, {}))
        grows = None if item.most is None else costs[item.most] / self._audited[item.most]
        return replace(item, records=records, grows=grows), costs

    def _setting(
        self, item: HereItem, control: Control, rules: RulePrices
    ) -> tuple[HereItem, CostByCall]:
        price = price_of_control(control, self._lists)
        known = _known(price)
        if known is None:
            why = price.why or next((one.why for one in price.kernels if one.why), NOT_LISTED)
            return replace(item, why=why), {}
        if price.uncounted is not None and dearest_call([known]) is None:
            return replace(item, why=price.uncounted.partition(": ")[0]), {}
        grows = self._added_to_records(price)
        priced, costs = self._priced(item, self._costs(known, grows, rules), "measured")
        if item.by_default:
            return priced, costs
        if rules.records and abs(grows) >= _WORTH_SAYING:
            dearer = "dearer" if grows > 0 else "cheaper"
            priced = replace(priced, note=f"audit records become {abs(grows):.1%} {dearer}")
        most = dearest_call([known])
        if not priced.share and most is not None:
            priced = replace(priced, note=f"{most.metric} {most.share:+.1%}")
        return priced, costs

    def _costs(self, known: KernelPrice, grows: float, rules: RulePrices) -> CostByCall:
        """Return what a setting adds to each call, and to the records that rules write there."""
        alone = {one.metric: one.cost for one in known.calls if one.metric in self._bases}
        written = rules.records.values() if grows else ()
        dearer = ({name: grows * cost for name, cost in one.items()} for one in written)
        return added_up((alone, *dearer))

    def _added_to_records(self, price: ControlPrice) -> float:
        """Return what a setting adds to the writing of records, as a share; 0 if none is known."""
        control = price.uses or price.control
        found = (added_to_records(control, one, self._lists) for one in self._records)
        return next((one for one in found if one is not None), 0.0)

    def _priced(
        self, item: HereItem, costs: CostByCall, known: Literal["measured", "predicted"]
    ) -> tuple[HereItem, CostByCall]:
        most = next((one for one in self.calls(costs) if one.share > 0), None)
        priced = replace(
            item,
            share=self.share(costs),
            known=known,
            most=None if most is None else most.name,
            grows=None if most is None else most.share,
        )
        return priced, costs

    def overlaps(
        self, found: Sequence[InForce], rules: RulePrices
    ) -> Iterator[tuple[HereItem, CostByCall]]:
        """Yield what the prices of memory settings have in common, since each was measured alone.

        Debian's kernel has `init_on_alloc=1`. Poisoning replaces it, for pages and for the slab, so
        that it is part of the price of each that poisons; and page poisoning replaces
        `init_on_free=1`, too (init_mem_debugging_and_hardening, slab_want_init_on_alloc).
        """
        names = [one.name for one in found if not one.by_default]
        replacing = [one for one in names if _replaces_clearing(one)]
        if len(replacing) > 1:
            said = f"{join_in_prose(replacing)} replace init_on_alloc=1 once"
            yield self._overlap(said, "init_on_alloc=1", len(replacing) - 1, rules)
        if _PAGE_POISON in names and "init_on_free=1" in names:
            yield self._overlap(
                "page_poison=1 replaces init_on_free=1", "init_on_free=1", -1, rules
            )

    def _overlap(
        self, name: str, setting: str, times: int, rules: RulePrices
    ) -> tuple[HereItem, CostByCall]:
        price = price_of_control(BootParameter(setting), self._lists)
        known = _known(price)
        costs = {} if known is None else self._costs(known, self._added_to_records(price), rules)
        item = HereItem(
            id=f"{OVERLAP}:{setting}",
            kind=OVERLAP,
            name=name,
            note="the prices of both have it, and it counts once",
        )
        return self._priced(item, {it: times * cost for it, cost in costs.items()}, "measured")

    def of_rules(self, found: Sequence[InForce]) -> RulePrices:
        """Return what the audit rules among what is in force add, loaded in this order."""
        rules = [one.control.rule for one in found if isinstance(one.control, AuditRule)]
        if not rules:
            return RulePrices()
        constants = self._constants
        target = replace(NOWHERE.likely_target(rules), auditctl=constants.auditctl)
        lines = load_rules(rules, target)
        kept = resolve_ids(lines.rules, numbers_for(lines.rules, {}))
        loaded = semantics.load(kept)
        by_call = {
            name: [predict(constants, loaded, events.typical(one)) for one in calls]
            for name, calls in events.operations().items()
            if name in self._bases
        }
        adding: defaultdict[int, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        writing: defaultdict[int, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
        for name, each in by_call.items():
            for one in each:
                for index, cost in one.walking.items():
                    adding[index][name] += cost
                if one.decided_by is not None and one.recording:
                    adding[one.decided_by][name] += one.recording
                    writing[one.decided_by][name] += one.recording

        def part(of: Callable[[Prediction], float]) -> CostByCall:
            return {name: math.fsum(map(of, each)) for name, each in by_call.items()}

        return RulePrices(
            total=part(lambda one: one.total),
            first=part(lambda one: one.base),
            each=_by_text(kept, adding),
            records=_by_text(kept, writing),
            unpriced={
                one.reading.rule.text: _REFUSED
                for one in lines.failing
                if one.reading.rule is not None
            },
        )


def _known(price: ControlPrice) -> KernelPrice | None:
    """Return the price on the nearest kernel that has one."""
    return next((one for one in price.kernels if one.known is not None), None)


def _replaces_clearing(name: str) -> bool:
    """Say whether a boot parameter switches `init_on_alloc=1` off, wholly or for the slab."""
    key, _, value = name.partition("=")
    poisons = key in _SLAB_DEBUG and "P" in value.partition(",")[0].upper()
    return poisons or name in {_PAGE_POISON, "init_on_alloc=0"}


def _by_text(rules: Sequence[KernelRule], costs: Mapping[int, CostByCall]) -> dict[str, CostByCall]:
    """Return the costs of rules by their lines."""
    return {
        rule.source.text: costs[index]
        for index, rule in enumerate(rules)
        if rule.source is not None and index in costs
    }


def added_up(costs: Iterable[CostByCall]) -> CostByCall:
    """Return costs added up call by call."""
    found: defaultdict[str, float] = defaultdict(float)
    for one in costs:
        for name, cost in one.items():
            found[name] += cost
    return found
