"""What `hardcost rules cost` shows: calls, rules, and measurements beside predictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from rich.table import Table

from hardcost.auditrules.cost.alike import Alike
from hardcost.auditrules.cost.events import of_number
from hardcost.auditrules.cost.predict import price
from hardcost.auditrules.cost.unpredicted import unpriced
from hardcost.auditrules.cost.wasted import Kind, Waste, wasted
from hardcost.auditrules.tables import lookup
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.auditrules.cost.constants import Constants
    from hardcost.auditrules.cost.predict import Histogram, Prediction, Price
    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.semantics import Loaded
    from hardcost.auditrules.tables.lookup import Arch
    from hardcost.calibration.check import Row
    from hardcost.cli.monitors import Tell

_MOST_CALLS = 20
_MOST_RULES = 12
_MOST_NAMES = 3


@dataclass(frozen=True)
class Priced:
    """A rule set's price for a mix of calls; `rows` are measurements, if there are any.

    `twice` are rules that the kernel refuses because an earlier one is the same; `assumed`: the mix
    is not the user's. `source` says where constants in nanoseconds are from; () of instructions.
    """

    constants: Constants
    loaded: Loaded
    mix: Histogram
    assumed: bool
    twice: Sequence[KernelRule]
    rows: Sequence[Row]
    source: Sequence[str] = ()

    @property
    def unit(self) -> str:
        """The unit of all costs: ns where they are times of a machine, else insn."""
        return "ns" if self.constants.timed else "insn"

    @cached_property
    def _alike(self) -> Alike:
        """What predicts calls; those that no rule tells apart are walked once."""
        return Alike(self.constants, self.loaded)

    @cached_property
    def price(self) -> Price:
        """The price of the mix."""
        return price(self.mix, self._alike.predict)

    @cached_property
    def wastes(self) -> Mapping[int, tuple[Waste, ...]]:
        """Why rules cost without firing, by index."""
        return wasted(self.loaded)

    @cached_property
    def calls(self) -> tuple[tuple[Arch, int, Prediction], ...]:
        """The calls of the mix with their predictions, those that add most to the price first."""
        ordered = sorted(self.price.by_call.items(), key=lambda entry: -entry[1])
        return tuple(
            (arch, call, self._alike.predict(of_number(call, arch))) for (arch, call), _ in ordered
        )

    @cached_property
    def fixed(self) -> float:
        """What having any rule on the exit list adds to a call of the mix, on average."""
        whole = sum(one.fixed * self.mix[arch, call] for arch, call, one in self.calls)
        return whole / self.price.calls if self.price.calls else 0.0

    @cached_property
    def _has_other(self) -> bool:
        """Whether calls pay something once beside the price of having any rule."""
        return any(one.base != one.fixed for _, _, one in self.calls)

    @cached_property
    def ranking(self) -> tuple[tuple[int, float], ...]:
        """The rules with what each adds to a call of the mix, on average, the dearest first."""
        per_call = {
            index: self.price.by_rule.get(index, 0.0) / self.price.calls
            for index in range(len(self.loaded.rules))
        }
        return tuple(sorted(per_call.items(), key=lambda entry: (-entry[1], entry[0])))

    def work_out(self, tell: Tell) -> None:
        """Compute all that takes long; `tell` takes how far it is."""
        for nth, (arch, call) in enumerate(self.mix):
            tell("pricing each call", nth / len(self.mix))
            self._alike.predict(of_number(call, arch))
        tell("looking for rules that cost in vain")
        _ = self.wastes

    # For a terminal ------------------------------------------------------------------------------

    def tables(self) -> list[Table]:
        """Return the tables for a terminal."""
        measured = [self._measured()] if self.rows else []
        return [*measured, self._by_call(), self._by_rule()]

    def notes(self) -> list[str]:
        """Return what a reader has to know about the numbers."""
        counted = (
            f"predicted from constants of Linux {self._about('kernel')}, measured by counting"
            f" instructions under QEMU {self._about('qemu')} on {self._about('date')};"
            " instructions are not time"
        )
        found = list(self.source) or [counted]
        if self.assumed:
            found.append(
                "the mix of calls is assumed, for a general-purpose system; --histogram takes your"
                " own"
            )
        if self.fixed:
            share = _percent(self.fixed, self.price.per_call)
            found.append(
                f"having any rule: {self.fixed:+,.1f} {self.unit} per call (predicted), {share} of"
                " the mean; leaving out single rules does not avoid it"
            )
        found.append("a path rule counts with 1/32, since one visited file in 32 meets it")
        if any(rule.path or rule.directory for rule in self.loaded.rules):
            found.append(
                "not priced: what a watch adds to opening and changing files on the file system"
                " that it watches (fsnotify); a guest's workload uses another file system"
            )
        recorded = sorted(
            lookup.call_name(arch, call) for arch, call, one in self.calls if one.recorded
        )
        if recorded:
            found.append(f"always recorded: {_some(recorded)}")
        estimated = sorted(self.price.estimated)
        if estimated:
            found.append(f"estimated, not measured: {_some(estimated)}")
        found += self._not_predicted()
        return found

    def _not_predicted(self) -> list[str]:
        """Return which calls have no prediction, and why; which rules have no price."""
        by_reason: dict[str, list[str]] = {}
        for (arch, call), reason in self.price.unknown.items():
            by_reason.setdefault(reason, []).append(_name(arch, call))
        return [
            *(
                f"not predicted: {_some(sorted(calls))}: {reason}; the mean is without their"
                " records"
                for reason, calls in by_reason.items()
            ),
            *(
                f"not predicted: {_place(self.loaded.rules[at])}: what it costs new processes or"
                " records, or saves"
                for at in unpriced(self.loaded)
            ),
        ]

    @cached_property
    def _unpriced(self) -> frozenset[int]:
        return frozenset(unpriced(self.loaded))

    def _about(self, key: str) -> str:
        return self.constants.about.get(key, "unknown")

    def _by_call(self) -> Table:
        mean = self.price.per_call
        lacking = ", without what is not predicted" if self.price.unknown else ""
        table = Table(
            title=f"predicted: {mean:,.1f} {self.unit} per call, the mean of the mix{lacking};"
            " by call",
            title_justify="left",
            caption=self._left_out(len(self.calls), _MOST_CALLS, "calls"),
            caption_justify="left",
        )
        table.add_column("call")
        other = ("other base",) if self._has_other else ()
        heads = (
            "of 1000 calls",
            "any rule",
            *other,
            "walk",
            "record",
            f"{self.unit}/call",
            "share",
        )
        for name in heads:
            table.add_column(name, justify="right")
        for arch, call, one in self.calls[:_MOST_CALLS]:
            count = self.mix[arch, call] / self.price.calls
            table.add_row(
                _name(arch, call),
                f"{1000 * count:.1f}",
                f"{one.fixed:,.0f}",
                *([f"{one.base - one.fixed:,.0f}"] if self._has_other else []),
                f"{one.walk:,.0f}",
                _record(one),
                "not predicted" if one.unknown else f"{one.total:,.0f}",
                "" if one.unknown else _percent(one.total * count, mean),
            )
        return table

    def _by_rule(self) -> Table:
        table = Table(
            title=f"predicted: the most expensive rules, in the mean of the mix{self._one_file}",
            title_justify="left",
            caption=self._left_out(len(self.ranking), _MOST_RULES, "rules"),
            caption_justify="left",
        )
        table.add_column(f"{self.unit}/call", justify="right")
        table.add_column("share", justify="right")
        table.add_column("rule", overflow="fold", ratio=3)
        table.add_column("in vain", overflow="fold", ratio=2)
        for index, cost in self.ranking[:_MOST_RULES]:
            rule = self.loaded.rules[index]
            unknown = index in self._unpriced
            table.add_row(
                "not predicted" if unknown else f"{cost:.2f}",
                "" if unknown else _percent(cost, self.price.per_call),
                f"{self._where(rule)}: {_text(rule)}",
                "\n".join(map(self._reason, self.wastes.get(index, ()))),
            )
        return table

    def _reason(self, waste: Waste) -> str:
        if waste.kind is Kind.SHADOWED and waste.by is not None:
            return f"never fires: {self._where(self.loaded.rules[waste.by])} decides before it"
        if waste.kind is Kind.CONTRADICTION:
            return "never fires: two of its conditions exclude each other"
        return f"tested on 64-bit calls that share its 32-bit calls' numbers: {_some(waste.calls)}"

    @cached_property
    def _files(self) -> frozenset[str]:
        sources = (rule.source for rule in self.loaded.rules)
        return frozenset(one.place.file for one in sources if one is not None and one.place)

    @property
    def _one_file(self) -> str:
        return f"; lines of {visible(*self._files)}" if len(self._files) == 1 else ""

    def _where(self, rule: KernelRule) -> str:
        """Return a rule's place: only the line if all rules are in one file."""
        if len(self._files) == 1 and rule.source and rule.source.place:
            return str(rule.source.place.line)
        return _place(rule)

    def _measured(self) -> Table:
        table = Table(
            title="measured in a guest (insn: counted instructions) and predicted, per operation",
            title_justify="left",
        )
        table.add_column("operation")
        for name in ("measured insn/op", "±", "predicted insn/op", "off by"):
            table.add_column(name, justify="right")
        for row in self.rows:
            table.add_row(
                row.operation,
                f"{row.measured:,.1f}",
                f"{row.spread:.0f}" if row.spread else "",
                "not predicted" if row.unknown else f"{row.predicted:,.1f}",
                f"{row.off:+.1%}" if row.measured and not row.unknown else "",
            )
        return table

    @staticmethod
    def _left_out(there: int, most: int, what: str) -> str | None:
        return f"{there - most} more {what}: --format json lists them all" if there > most else None

    # As JSON -------------------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """Return all of it for JSON."""
        return {
            "predicted": True,
            "unit": self.unit,
            "constants": dict(self.constants.about),
            "mix": "assumed" if self.assumed else "given",
            f"{self.unit}_per_call": self.price.per_call,
            f"fixed_{self.unit}_per_call": self.fixed,
            "calls": [self._call_data(*call) for call in self.calls],
            "rules": [self._rule_data(index, cost) for index, cost in self.ranking],
            "refused": [_rule_facts(rule) for rule in self.twice],
            "estimated": sorted(self.price.estimated),
            "measured": [
                {
                    "operation": row.operation,
                    "unit": "insn/op",
                    "measured": row.measured,
                    "spread": row.spread,
                    "predicted": None if row.unknown else row.predicted,
                    "off": row.off if row.measured and not row.unknown else None,
                }
                for row in self.rows
            ],
        }

    def _call_data(self, arch: Arch, call: int, one: Prediction) -> dict[str, Any]:
        return {
            "arch": arch,
            "call": lookup.call_name(arch, call),
            "count": self.mix[arch, call],
            "base": one.base,
            "fixed": one.fixed,
            "walk": one.walk,
            "record": None if one.unknown else one.recording,
            "recorded": one.recorded,
            f"{self.unit}_per_call": None if one.unknown else one.total,
            "not_predicted": one.unknown or None,
            "estimated": sorted(one.estimated),
        }

    def _rule_data(self, index: int, cost: float) -> dict[str, Any]:
        return {
            **_rule_facts(self.loaded.rules[index]),
            f"{self.unit}_per_call": None if index in self._unpriced else cost,
            "in_vain": [
                {
                    "kind": waste.kind.value,
                    "by": None if waste.by is None else _rule_facts(self.loaded.rules[waste.by]),
                    "calls": list(waste.calls),
                }
                for waste in self.wastes.get(index, ())
            ],
        }


def _rule_facts(rule: KernelRule) -> dict[str, Any]:
    source = rule.source
    place = source.place if source else None
    return {
        "file": place.file if place else None,
        "line": place.line if place else None,
        "rule": source.text if source else None,
    }


def _place(rule: KernelRule) -> str:
    return visible(str(rule.source.place)) if rule.source and rule.source.place else "a rule"


def _text(rule: KernelRule) -> str:
    return visible(rule.source.text) if rule.source else ""


def _name(arch: Arch, call: int) -> str:
    name = lookup.call_name(arch, call)
    return name if arch == "b64" else f"{name} ({arch})"


def _record(one: Prediction) -> str:
    if one.unknown:
        return ""
    return f"{one.recording:,.0f}" if one.recorded else "-"


def _percent(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "-"


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    shown = ", ".join(names[:_MOST_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown
