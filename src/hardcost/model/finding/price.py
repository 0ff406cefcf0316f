"""Prices of single controls: what each adds to each call, on each kernel that has a list."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from hardcost.model.document import Document, IfAny, IfKnown, Number
from hardcost.model.workload import Workload

_PARTS = 2  # of a kernel's release that name it


_CALLS = frozenset({"syscalls", "syscalls-more"})
_START = frozenset({"boot", "memory"})


def is_call(workload: Workload) -> bool:
    """Say whether a workload's metrics are single calls, and not what programs do."""
    return workload.name in _CALLS


def is_start(workload: Workload) -> bool:
    """Say whether a workload's metrics are of a system's start: its boot, its kernel's memory."""
    return workload.name in _START


def is_program(workload: Workload) -> bool:
    """Say whether a workload's metrics are what programs do: all that the others are not."""
    return not is_call(workload) and not is_start(workload)


def linux_version(release: str) -> str:
    """Return the version of Linux that a kernel's release begins with, such as `6.1`."""
    return ".".join(release.partition("-")[0].split(".")[:_PARTS])


@dataclass(frozen=True, kw_only=True)
class CallPrice:
    """What a control adds to one metric, in `unit`, with its 95 % interval.

    `base` is what the metric takes without the control, None where that is not known. Of an audit
    rule, `first` is what having any rule adds, once, whichever it is; it is not in `cost`.
    """

    workload: Workload
    metric: str
    unit: str
    base: Number | None
    cost: Number
    low: Number
    high: Number
    first: IfKnown[Number | None] = None

    @property
    def share(self) -> float:
        """The cost as a share of the base; 0 where that is not known."""
        return self.cost / self.base if self.base else 0.0

    @property
    def is_clear(self) -> bool:
        """Whether it is more than twice as large as its interval is wide.

        Of hundreds of programs' costs with 95 % intervals, some seem to be more by chance.
        """
        return abs(self.cost) > 2 * (self.high - self.low)


@dataclass(frozen=True)
class PriceWithin:
    """What a control adds while the other settings of a profile are on.

    `compared` is how many of the calls to which it adds something by itself were compared; `calls`
    are those to which it adds something else.
    """

    profile: str
    compared: int
    calls: tuple[CallPrice, ...]


@dataclass(frozen=True, kw_only=True)
class KernelPrice:
    """What a control adds on one kernel.

    `known` is `measured` by itself or `predicted` from the kernel's measured constants; None: it
    has no price there, and `why` says why not. `calls` are the metrics to which it adds something
    that can be distinguished from nothing, those that grow most first; to `free` others it adds
    nothing. `programs` are what programs do, such as copying files, and `start` the boot and the
    kernel's memory: each with what the control adds to it, be that nothing. `missing` says by
    workload why that was not measured. `within` is its price in company, by profile. `against` says
    what the control was added to, `environment` what was measured.
    """

    kernel: str
    known: Literal["measured", "predicted"] | None
    calls: tuple[CallPrice, ...] = ()
    free: int = 0
    programs: IfAny[tuple[CallPrice, ...]] = ()
    start: IfAny[tuple[CallPrice, ...]] = ()
    within: IfAny[tuple[PriceWithin, ...]] = ()
    without: IfKnown[str | None] = None
    against: str = ""
    date: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    missing: IfAny[dict[str, str]] = field(default_factory=dict)
    why: IfKnown[str | None] = None

    @property
    def version(self) -> str:
        """The version of Linux, such as `6.1`."""
        return linux_version(self.kernel)


def dearest_program(kernels: Iterable[KernelPrice]) -> CallPrice | None:
    """Return what clearly grows most of what programs do, on any kernel; None if nothing does."""
    growing = (it for kernel in kernels for it in kernel.programs if it.cost > 0 and it.is_clear)
    return max(growing, key=lambda one: one.share, default=None)


def dearest_start(kernels: Iterable[KernelPrice]) -> CallPrice | None:
    """Return what grows most of a system's start, on any kernel; None if nothing does."""
    growing = (it for kernel in kernels for it in kernel.start if it.cost > 0)
    return max(growing, key=lambda one: one.share, default=None)


def dearest_call(kernels: Iterable[KernelPrice]) -> CallPrice | None:
    """Return the call that grows most on any of several kernels; None if none grows."""
    growing = (call for kernel in kernels for call in kernel.calls if call.cost > 0)
    return max(growing, key=lambda call: (call.share, call.cost), default=None)


@dataclass(frozen=True, kw_only=True)
class ControlPrice:
    """A control, what it is good for, and its price by kernel.

    `control` is its name in profiles, `protects` what it is good for. `demanded_by` are benchmarks'
    names of it and who else asks for it, `sources` files of the kernel that say what it does,
    `severity` how grave its absence is. `default`
    says whose default it is anyway. `same_as` are other settings that do the same; `uses` is the
    one whose price this is. `uncounted` says what of its cost no instruction count shows, `caveats`
    what else there is to know. `why` says why no kernel has a
    price for it, `measure` is the command that measures it.
    """

    control: str
    what: str
    protects: str = ""
    severity: str = ""
    demanded_by: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    default: Literal["kernel", "distribution"] | None = None
    same_as: tuple[str, ...] = ()
    uses: IfKnown[str | None] = None
    kernels: tuple[KernelPrice, ...] = ()
    uncounted: IfKnown[str | None] = None
    caveats: tuple[str, ...] = ()
    why: IfKnown[str | None] = None
    measure: IfKnown[str | None] = None


@dataclass(frozen=True, kw_only=True)
class ControlPrices(Document):
    """The prices of what was asked for; a benchmark's control may consist of several controls."""

    kind: Literal["prices"] = "prices"
    asked: tuple[str, ...]
    controls: tuple[ControlPrice, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class BenchmarkControl:
    """A control of a benchmark by its number, and the names of the settings that carry it out."""

    name: str
    controls: tuple[str, ...]


@dataclass(frozen=True)
class Benchmark:
    """A product's benchmarks: a short name, a title, whose numbers these are, and the controls."""

    name: str
    title: str
    source: str
    controls: tuple[BenchmarkControl, ...]
