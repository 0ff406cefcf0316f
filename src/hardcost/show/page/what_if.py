"""The what-if part of a bill's page: the data for its script, and the script itself.

The script ticks controls on and off and shows what remains; `choice.js` has what a choice costs,
`whatif.js` the page's wiring. All that it shows comes from here as JSON: names as text, costs as
measured, the profile's file in pieces.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import statistics
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Generic, TypeVar

from markupsafe import Markup

from hardcost.analysis.estimates.resolution import interaction_bound
from hardcost.model.finding.bill import Bill, Item, Itemised, Total
from hardcost.model.finding.choice import Advised
from hardcost.model.role import Whole
from hardcost.model.workload import MetricId
from hardcost.show.bill_rows import BillRow, BillRows, benchmark_names, rows_of_bill
from hardcost.show.page.script import Script, script_of
from hardcost.show.sentences.amounts import metric_words, unit_words
from hardcost.show.sentences.answer import by_metric, free_entries, is_free
from hardcost.units import visible

_Value = TypeVar("_Value", bound=Hashable)

_OPERATION = " per operation"

_UNSEEN = 3
"""Decimals of a control's costs beyond those shown, so that sums of a thousand are shown right."""

_EXPORT = re.compile(r"^export ", re.MULTILINE)
_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./choice\.js\";\n", re.MULTILINE)

_ESCAPES = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})
"""Characters that could end the element that the JSON is in; the rest of it is ASCII."""


@cache
def script() -> Script:
    """Return the script as one text: that of `choice.js` stands before that of `whatif.js`."""
    folder = resources.files("hardcost.show.page")
    choice, page = ((folder / name).read_text("utf-8") for name in ("choice.js", "whatif.js"))
    text = f"\n{_EXPORT.sub('', choice)}\n{_IMPORT.sub('', page)}"
    return script_of(text)


def data_for_page(finding: Bill) -> Markup | None:
    """Return the data of a bill as JSON for a page; None if there is no choice to make.

    There is none in a bill by search, which prices only the culprits, nor in one of a single
    control, nor in a bill saved before bills kept what this takes.
    """
    if len(finding.controls) < 2 or not finding.pieces:  # noqa: PLR2004  (a choice)
        return None
    items = {(item.control, item.metric): item for item in (*finding.small, *finding.items)}
    rows = rows_of_bill(finding)
    known = {entry.control for entry in rows.entries}
    if any((name, of.metric) not in items for name in known for of in finding.totals):
        return None
    if not known.issuperset(name for _, names in finding.pieces for name in names):
        return None
    text = json.dumps(_data(finding, rows, items), separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_ESCAPES))  # noqa: S704  (nothing in it can end the element)


class _Once(Generic[_Value]):
    """Values that the data holds once each; elsewhere it has their numbers, from 0."""

    def __init__(self) -> None:
        """Begin without values."""
        self._numbers: dict[_Value, int] = {}

    def number(self, value: _Value) -> int:
        """Return the number of a value."""
        return self._numbers.setdefault(value, len(self._numbers))

    def values(self) -> list[_Value]:
        """Return the values in the order of their numbers."""
        return list(self._numbers)


def _data(
    finding: Bill, rows: BillRows, items: Mapping[tuple[str, MetricId], Item]
) -> dict[str, Any]:
    """Return the data of the script; `choice.js` explains the keys."""
    totals = [of for of in finding.totals if _finite(of.baseline, of.with_profile)]
    numbers = {entry.control: index for index, entry in enumerate(rows.entries)}
    controls = _Controls(finding, rows, totals, numbers)
    own = ([items[entry.control, of.metric] for of in totals] for entry in rows.entries)
    return {
        "id": _identity(finding, rows),
        "profile": visible(finding.profile),
        "advised": isinstance(finding, Advised) or finding.advice is not None,
        "file": f"{_file_name(finding.profile)}.toml",
        "metrics": [_metric(of, finding, rows, items) for of in totals],
        "mix": [str(of.unit).endswith("/op") for of in totals],
        "weights": [round(1000 * rows.weighed.weights.get(of.metric, 0.0), 3) for of in totals],
        "average": "" if rows.weighed.leading is None else metric_words(rows.weighed.leading),
        "controls": [*map(controls.data, rows.entries, own)],
        "texts": controls.texts.values(),
        "rows": controls.rows.values(),
        "measured": _measured_choices(finding, totals, numbers),
        "pieces": [
            [_piece(text, names, numbers), [numbers[name] for name in names]]
            for text, names in finding.pieces
        ],
    }


def _piece(text: str, names: Sequence[str], numbers: Mapping[str, int]) -> str | list[str | int]:
    """Return the text of a piece: in parts, of which a number is the name of that control."""
    for name in names:
        before, found, after = text.partition(name)
        if found and visible(name) == name:
            return [before, numbers[name], after]
    return text


def _identity(finding: Bill, rows: BillRows) -> str:
    """Return a key that distinguishes this bill from others in an address that holds a choice."""
    named = [finding.run, *(entry.control for entry in rows.entries)]
    return hashlib.sha256(json.dumps(named).encode()).hexdigest()[:8]


def _file_name(profile: str) -> str:
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", profile.rstrip("/").rpartition("/")[2])
    return f"{plain[:60].strip('-') or 'profile'}-choice"


def _metric(
    of: Total, finding: Bill, rows: BillRows, items: Mapping[tuple[str, MetricId], Item]
) -> dict[str, Any]:
    account = next(one for one in rows.accounts if one.metric == of.metric)
    own = [item for (_, metric), item in items.items() if metric == of.metric]
    words, chance = unit_words(of.unit), _chance(of, finding, own)
    return {
        "name": visible(of.metric),
        "unit": words,
        "sum": words.removesuffix(_OPERATION),
        "digits": account.digits,
        "baseline": _number(of.baseline),
        "cost": _number(of.cost),
        "chance": _number(chance),
        "shared": None if finding.needs else _shared_cost(of, own, chance, finding),
    }


def _chance(of: Total, finding: Bill, items: Iterable[Item]) -> float:
    """Return the largest difference of two configurations that may be chance.

    That is what placebos reach, half of the widest interval, or, of a workload whose single trial
    is one draw, what such a trial says nothing below.
    """
    cell = by_metric(finding, Whole()).get(of.metric)
    halves = [
        (high - low) / 2
        for item in items
        for low, high in ((item.low, item.high), (item.alone_low, item.alone_high))
        if low is not None and high is not None and _finite(low, high)
    ]
    drawn = cell.resolution * abs(of.baseline) if cell is not None else 0.0
    return max((of.least, drawn, *halves))


def _shared_cost(
    of: Total, items: Sequence[Item], chance: float, bill: Itemised
) -> float | int | None:
    """Return the one cost that all controls share; None if the measurements do not fit that.

    They fit if each control costs the same amount more alone than in the profile, and the profile
    costs that amount once more than its controls. So they do, with 0, if costs just add up. A
    profile of n controls has 2n + 1 costs, and this explains them by n + 1 numbers. Each cost
    contains two configurations, and a difference of two costs four, which chance can change
    accordingly; the total is compared with all of them, as in `interaction_bound`.
    """
    more = [
        item.alone - _saving(item, bill)
        for item in items
        if item.alone is not None  # of a verified cost it is not known
    ]
    if not more or not _finite(*more):
        return None
    shared = statistics.median_low(more)
    left = of.cost - math.fsum(_saving(item, bill) for item in items) - shared
    alike = all(abs(one - shared) <= math.sqrt(2) * chance for one in more)
    adds_up = abs(left) <= interaction_bound(chance, len(items))
    return _number(shared) if alike and adds_up else None


class _Controls:
    """The data of controls, with the texts and the rows of numbers that several of them share."""

    def __init__(
        self, bill: Bill, rows: BillRows, totals: Sequence[Total], numbers: Mapping[str, int]
    ) -> None:
        """Begin with no control."""
        self.texts, self.rows = _Once[str](), _Once[tuple[float | int, ...]]()
        self._bill, self._totals, self._numbers = bill, totals, numbers
        self._free = {entry.control for entry in free_entries(rows)}
        digits = {account.metric: account.digits for account in rows.accounts}
        self._decimals = [digits[of.metric] + _UNSEEN for of in totals]

    def data(self, entry: BillRow, items: Sequence[Item]) -> dict[str, Any]:
        """Return the data of one control, without what is empty, 0 or false."""
        place = next((item.place for item in items if item.place), None)
        caveats = dict.fromkeys(item.caveat for item in items if item.caveat)
        unshown = entry.control in self._bill.unshown
        ids = next((item.ids for item in items if item.ids), ())
        names = tuple(benchmark_names(ids))
        needs = self._bill.needs.get(entry.control, ())
        said: dict[str, Any] = {
            "place": visible(" ".join(filter(None, (str(place or ""), *names)))),
            "requirements": visible(" ".join(one for one in ids if one not in names)),
            "needs": [self._numbers[name] for name in needs if name in self._numbers],
            "verified": any(item.alone is None for item in items),
            "free": entry.control in self._free,
        }
        shared = {
            "file": visible("" if place is None or place.line is None else place.file),
            "severity": visible(next((item.severity for item in items), "")),
            "caveat": visible("; ".join(caveats) or ("the numbers do not show its cost" * unshown)),
        }
        return {
            "name": visible(entry.control),
            **{key: value for key, value in said.items() if value},
            **{key: self.texts.number(text) for key, text in shared.items() if text},
            **self._costs(entry, items),
        }

    def _costs(self, entry: BillRow, items: Sequence[Item]) -> dict[str, int]:
        """Return what leaving a control out saves, and what more it costs alone."""
        costs = [_saving(item, self._bill) for item in items]
        alone = [_cost_alone(item, self._bill) for item in items]
        more = [one - cost for one, cost in zip(alone, costs, strict=True)]
        sure = (
            of.metric in entry.items and not is_free(entry.items[of.metric]) for of in self._totals
        )
        return {
            "cost": self._row(costs),
            "more": self._row(more),
            "sure": self.texts.number("".join("01"[one] for one in sure)),
        }

    def _row(self, values: Sequence[float]) -> int:
        """Return the number of a row of a value for each metric."""
        pairs = zip(values, self._decimals, strict=True)
        return self.rows.number(tuple(_number(round(value, most)) for value, most in pairs))


def _saving(item: Item, bill: Itemised) -> float:
    """Return the saving without a control: of the only rule, the price of having any, too."""
    return item.cost + (_fixed_price(item, bill) if bill.rules == (item.control,) else 0.0)


def _cost_alone(item: Item, bill: Itemised) -> float:
    """Return the cost of a control alone; of a verified one, what its prediction says of it.

    That is its cost in the profile and, of a rule, the price of having any.
    """
    if item.alone is not None:
        return item.alone
    return item.cost + (_fixed_price(item, bill) if item.control in bill.rules else 0.0)


def _fixed_price(item: Item, bill: Itemised) -> float:
    """Return the price of having any rule on an item's metric."""
    return math.fsum(one.cost for one in bill.fixed if one.metric == item.metric)


def _measured_choices(
    finding: Bill, totals: Sequence[Total], numbers: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return what was measured besides the bill's own trials: what a budget leaves."""
    advice = finding.advice
    if advice is None or not advice.kept or not advice.leave_out:
        return []
    costs = {of.metric: of.cost for of in advice.totals}
    if not all(of.metric in costs for of in totals):
        return []
    off = [numbers[name] for name in advice.leave_out if name in numbers]
    return [{"off": off, "cost": [_number(costs[of.metric]) for of in totals]}]


def _finite(*values: float) -> bool:
    return all(map(math.isfinite, values))


def _number(value: float) -> float | int:
    """Return a number as short as JSON has it; one that is not known is 0 here."""
    if not math.isfinite(value):
        return 0
    return int(value) if value == int(value) else value
