"""The mean call of a user's own mix, of the operations that were measured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from auditrules.cost.events import operations
from auditrules.cost.predict import Histogram
from auditrules.tables import lookup
from hardcost.analysis.estimates.estimates import Estimate
from hardcost.model.finding.bill import Total
from hardcost.model.workload import MetricId
from hardcost.workloads import syscalls

MEAN = MetricId("mix")
"""The metric's name."""


@dataclass(frozen=True)
class Mix:
    """How often each operation's call is made, by metric; `covered` is their part of all calls."""

    weights: Mapping[MetricId, float]
    covered: float

    def with_mean(self, totals: Sequence[Total]) -> tuple[Total, ...]:
        """Return totals with one more, the mean over the calls of the mix."""
        by_metric = {one.metric: one for one in totals if one.metric in self.weights}
        if not by_metric:
            return tuple(totals)
        baseline = self._mean({name: one.baseline for name, one in by_metric.items()})
        cost = self._mean({name: one.cost for name, one in by_metric.items()})
        least = self._mean({name: one.least for name, one in by_metric.items()})
        unit = next(iter(by_metric.values())).unit
        return (*totals, Total(MEAN, unit, baseline, baseline + cost, cost, least))

    def with_mean_of(self, estimates: Mapping[MetricId, Estimate]) -> dict[MetricId, Estimate]:
        """Return estimates with one more, the mean over the calls of the mix.

        Its interval is as wide as if all were off in the same direction.
        """
        own = {name: one for name, one in estimates.items() if name in self.weights}
        if not own:
            return dict(estimates)
        mean = Estimate(
            self._mean({name: one.value for name, one in own.items()}),
            self._mean({name: one.low for name, one in own.items()}),
            self._mean({name: one.high for name, one in own.items()}),
        )
        return {**estimates, MEAN: mean}

    def mean(self, values: Mapping[MetricId, float]) -> float | None:
        """Return the mean of values by metric over the calls of the mix; None if one lacks."""
        known = {name: values[name] for name in self.weights if name in values}
        return self._mean(known) if known and len(known) == len(self.weights) else None

    def _mean(self, values: Mapping[MetricId, float]) -> float:
        whole = math.fsum(self.weights[name] for name in values)
        return math.fsum(value * self.weights[name] for name, value in values.items()) / whole


def of_histogram(counts: Histogram, metrics: Sequence[MetricId]) -> Mix:
    """Return the mix of a histogram over metrics; each call counts for one operation.

    An operation stands for its first call, such as `open` for `openat`, and for its older forms.
    An operation whose call no metric measures is not covered.
    """
    by_name: dict[str, float] = {}
    for (arch, number), count in counts.items():
        name = lookup.call_name(arch, number)
        by_name[name] = by_name.get(name, 0.0) + count
    weights: dict[MetricId, float] = {}
    for of in metrics:
        ours = of.workload is None or of.workload.name in syscalls.OF_CALLS
        calls = _STANDS_FOR.get(of.name, operations().get(of.name, ())[:1])
        count = math.fsum(by_name.get(call, 0.0) for call in calls)
        if ours and count and of.name not in {other.name for other in weights}:
            weights[of] = count
    whole = math.fsum(by_name.values())
    return Mix(weights, math.fsum(weights.values()) / whole if whole else 0.0)


_STANDS_FOR: Mapping[str, tuple[str, ...]] = {
    "open": ("openat", "open"),
    "stat": ("newfstatat", "stat", "lstat", "statx"),
    "read": ("read", "pread"),
    "write": ("write", "pwrite"),
    "access": ("access", "faccessat", "faccessat2"),
    "select": ("select", "pselect6"),
    "signal": ("kill", "tgkill"),
    "pipe": (),  # its calls are those of `read` and `write`
    "unix": (),
    "context-switch": ("futex",),
    "fork": ("clone", "fork", "vfork", "clone3"),
    "exec": ("execve", "execveat"),
    "rename": ("rename", "renameat", "renameat2"),
    "link": ("link", "linkat"),
    "mkdir": ("mkdir", "mkdirat"),
    "chmod": ("chmod", "fchmodat", "fchmod"),
    "chown": ("chown", "fchownat", "lchown", "fchown"),
    "connect": ("connect",),
}
"""The calls that an operation stands for, beside the first that it is made of."""
