"""Price lists: each control of the catalogue measured by itself on one kernel.

A list is made of the finding of a study with a configuration for each control, which is saved as
any run is. So it is resumed, spread over workers and shown again as other runs are.

There are lists of four kinds, by what the controls are added to: a small guest, a whole one for
security modules, for kernel options a kernel that is built without hardening, and a small guest
that writes audit records. The last says what settings do to the cost of records, which is no
setting's own. A list within a profile has what each of its settings costs while the others are on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal

from auditrules.read import parse
from hardcost.controls.configuration import Configuration
from hardcost.controls.control import Control
from hardcost.errors import InputError, MachineError
from hardcost.instruments.insn import INSN
from hardcost.library import run
from hardcost.library.measurement import Foreseen, Measuring, PlannedRun
from hardcost.library.profiles import ProfileRequest
from hardcost.library.run import RunRequest
from hardcost.measure.monitor import Monitor, Silent
from hardcost.mechanisms.audit import controls_of
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.price import is_call, is_program, is_start
from hardcost.model.finding.study import StudyFinding
from hardcost.model.request import CheckedRequest
from hardcost.model.role import Named
from hardcost.model.workload import Workload, workload_of
from hardcost.prices.listed import ListedControl, listed, measurable
from hardcost.prices.price_list import ByMetric, CostInterval, ListedPrice, ListHead, PriceList
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.study.model import Study
from hardcost.supply.cache.cache import file_digest
from hardcost.supply.programs import program_path
from hardcost.toml.read import meant

_CALLS = (Workload("syscalls"), Workload("syscalls-more"))
_PROGRAMS = tuple(
    map(
        workload_of,
        (
            "filecopy",
            "unixbench tests=execl+shell-1",
            "apache-worker concurrency=16 requests=200",
        ),
    )
)
_BOOT, _MEMORY = Workload("boot"), Workload("memory")
_MAIL = workload_of("postfix concurrency=8 mails=50")

_NONE = "none"

ListKind = Literal["settings", "modules", "options", "records"]
"""What a list is about: settings (boot parameters and sysctls), security modules, kernel options,
or settings where calls are recorded.
"""

_RECORDED = ("chmod", "rename", "link")
"""The calls that are recorded where a list is about records."""

_RULE = f"-a always,exit -F arch=b64 -S {','.join(_RECORDED)} -F key=recorded"

_AGAINST = {
    "settings": "a small guest of Debian's kernel with its defaults",
    "modules": "a Debian guest without a security module",
    "options": "a small kernel that is built without hardening",
    "records": "a small guest of Debian's kernel with one audit rule, which matches each call",
}
_WITHIN = "a small guest of Debian's kernel with the other settings of {profile}"
_BASES: dict[ListKind, tuple[Control, ...]] = {
    "settings": (),
    "modules": (Lsm("none"),),
    "options": (Kernel(),),
    "records": controls_of(parse.read_text(_RULE.encode(), "records")),
}
_WORKLOADS: dict[ListKind, tuple[Workload, ...]] = {
    "settings": (*_CALLS, *_PROGRAMS, _BOOT, _MEMORY),
    "modules": (*_CALLS, *_PROGRAMS, _MAIL, _BOOT, _MEMORY),
    "options": (*_CALLS, _MEMORY),
    "records": (workload_of(f"syscalls calls={'+'.join(_RECORDED)}"),),
}
"""The workloads of a list, unless others are chosen."""

_METRICS = {
    "filecopy": ("copy", "remove"),
    "apache-worker": ("ab-16",),
    "postfix": ("delivered-8",),
}
"""What is listed of a program, where that is not all: other metrics are made of these."""

_START_CHANCE = 0.005  # share: placebos move the boot by 0.2 %
_LEAST_MEMORY = 16 * 4096.0  # bytes
_START_FACTOR = 2.5  # expected extremes of 100 and 4 normal draws: 2.5 and 1.0 deviations

_SWITCHED = {"y": "n", "n": "y"}


@dataclass(frozen=True)
class PriceListRequest(CheckedRequest):
    """A request to measure controls by their names; without names, all of a kind.

    A list is of one kind, since all its controls are added to the same guest. With `within`, a
    profile, its settings are left out one by one instead, while its others are on.
    """

    controls: tuple[str, ...] = ()
    _: KW_ONLY
    kind: ListKind = "settings"
    within: str | None = None
    how: Measuring = field(default_factory=Measuring)

    def chosen(self) -> tuple[ListedControl, ...]:
        """Return the controls, in the order of the catalogue.

        Raises:
            InputError: There is none of a name, it can't be measured by itself, or they are of
                several kinds.
        """
        known = {one.name: one for one in self.candidates}
        for name in self.controls:
            if name not in known and self.within is not None:
                raise InputError(
                    f"{self.within} sets no boot parameter and no sysctl '{name}'",
                    hint=meant(name, tuple(known), "settings"),
                )
            if name not in known:
                why = next((one.why for one in listed() if one.name == name), None)
                raise InputError(
                    f"there is no control '{name}' that can be measured by itself",
                    hint=why or meant(name, tuple(known), "controls"),
                )
        if self.within is not None:
            return tuple(one for one in known.values() if one.name in (self.controls or known))
        if not self.controls:
            wanted = "settings" if self.kind == "records" else self.kind
            return tuple(one for one in known.values() if kind_of(one) == wanted)
        found = tuple(one for name, one in known.items() if name in self.controls)
        other = next((one for one in found if kind_of(one) != kind_of(found[0])), None)
        if other is not None:
            raise InputError(
                f"{found[0].name} and {other.name} can't be in one list: one is a {found[0].kind},"
                f" the other a {other.kind}",
                hint="they are not added to the same guest; make two lists",
            )
        return found

    @cached_property
    def candidates(self) -> Sequence[ListedControl]:
        """The controls that can be measured; a profile is read once.

        Raises:
            InputError: The profile within which they are to be measured sets nothing of the kind.
        """
        if self.within is None:
            return measurable()
        if self.kind != "settings":
            raise InputError(f"a list of {self.kind} can't be measured within a profile")
        (profile,) = ProfileRequest(self.within, how=self.how).load_profiles()
        settings = [one for one in profile.controls if isinstance(one, BootParameter | Sysctl)]
        if not settings:
            raise InputError(f"the profile {self.within} sets no boot parameter and no sysctl")
        without = {one.name: one.without for one in listed()}
        return [ListedControl(one.name, one.noun, one, without.get(one.name)) for one in settings]

    def kind_of(self, chosen: Sequence[ListedControl]) -> ListKind:
        """Return the kind of the list that has these controls."""
        return self.kind if self.kind == "records" else kind_of(chosen[0])


def kind_of(one: ListedControl) -> ListKind:
    """Return the kind of list that a control is in."""
    if one.measured is None or isinstance(one.measured, KernelOption):
        return "options"
    return "modules" if one.measured.whole_system else "settings"


def build_list(request: PriceListRequest, monitor: Monitor | None = None) -> PriceList:
    """Measure each control by itself; return the list.

    A control that the kernel lacks, or whose trials fail, is in the list without a price and with
    the reason.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    PriceListRequest.expect(request)
    monitor = monitor or Silent()
    chosen = _as_measured(request, monitor)
    found = run.run(_run_request(request, chosen), monitor)
    return _list_of(found, chosen, request)


def preview_list(request: PriceListRequest, monitor: Monitor | None = None) -> Foreseen:
    """Return the plan of a list that is not measured.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    monitor = monitor or Silent()
    return run.preview(_run_request(request, _as_measured(request, monitor)), monitor)


def _run_request(request: PriceListRequest, chosen: Sequence[ListedControl]) -> RunRequest:
    how = request.how
    if request.within is None:
        kind = request.kind_of(chosen)
        study, usual = _study(chosen, kind), _WORKLOADS[kind]
    else:
        study, usual = _study_within(request, chosen), _CALLS
    how = replace(how, instrument=INSN.name, workloads=how.workloads or usual)
    return RunRequest(study, how=how)


def _study(controls: Sequence[ListedControl], kind: ListKind) -> Study:
    """Return the study that has a configuration for each control, and one without any.

    Raises:
        InputError: None of the controls can be measured.
    """
    measured = [(one.name, one.measured) for one in controls if one.measured is not None]
    if not measured:
        why = "; ".join(one.why for one in controls if one.why is not None)
        raise InputError("nothing of this can be measured", hint=why)
    base = _BASES[kind]
    return _study_of(
        "the price of each control by itself",
        base,
        ((name, (one,) if isinstance(one, Lsm) else (*base, one)) for name, one in measured),
    )


def _study_within(request: PriceListRequest, controls: Sequence[ListedControl]) -> Study:
    """Return the study that has all settings of a profile, and a configuration without each.

    A default stays when it is left out; so it is switched off instead.
    """
    every = tuple(one.control for one in request.candidates if one.control is not None)

    def others(left_out: ListedControl) -> tuple[Control, ...]:
        rest = tuple(it for it in every if it != left_out.control)
        return rest if left_out.without is None else (*rest, left_out.without)

    return _study_of(
        f"the price of each setting within {request.within}",
        every,
        ((one.name, others(one)) for one in controls),
    )


def _study_of(
    title: str, base: tuple[Control, ...], each: Iterable[tuple[str, tuple[Control, ...]]]
) -> Study:
    others = (Configuration(Named(name), controls) for name, controls in each)
    return Study(
        name="prices",
        title=title,
        description="",
        workloads=_CALLS,
        configurations=(Configuration(Named(_NONE), base), *others),
        baseline=_NONE,
        instrument=INSN.name,
    )


def _as_measured(request: PriceListRequest, monitor: Monitor) -> tuple[ListedControl, ...]:
    """Return the controls as they can be measured.

    A kernel option that the base has already is measured by the kernel without it. One that Kconfig
    does not set on that base has the reason.

    Raises:
        HardcostError: Something is wrong with the input or the machine.
    """
    chosen = request.chosen()
    if kind_of(chosen[0]) != "options":
        return chosen
    planned = run.planned(_run_request(request, chosen), monitor)
    planned.machine.fetch((Boot(kernel=_recipe()),), monitor.note)
    monitor.note("asking Kconfig which options it sets in the base configuration …")
    return tuple(_on_base(one, planned) for one in chosen)


def _on_base(one: ListedControl, planned: PlannedRun) -> ListedControl:
    option = one.control
    if not isinstance(option, KernelOption):
        return one
    found = planned.machine.relations(_recipe(option))
    if found.already:
        option = KernelOption(option.option, _SWITCHED[option.value])
        one = replace(one, without=option)
        found = planned.machine.relations(_recipe(option))
    if found.effective:
        return one
    why = f"{option.name} can't be set on the kernel that is built: {found.unmet[0].why}"
    return replace(one, without=None, why=why)


def _recipe(*options: KernelOption) -> KernelRecipe:
    each = tuple((one.option, one.value) for one in options)
    return KernelRecipe(Kernel.base, each, tolerant=True, patches=())


def _list_of(
    found: StudyFinding, controls: Sequence[ListedControl], request: PriceListRequest
) -> PriceList:
    """Return the list of controls that a finding makes."""
    kind, within = request.kind_of(controls), request.within
    cells: defaultdict[str, list[Cell]] = defaultdict(list)
    for cell in found.cells:
        if cell.metric in _METRICS.get(cell.workload.name, (cell.metric,)):
            cells[str(cell.configuration)].append(cell)
    if not cells[_NONE]:
        raise MachineError("without the state that all are compared with there is no price")
    failed: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for one in found.failures:
        failed[str(one.configuration)].setdefault(str(one.workload), one.reason)
    bounds = _bounds(cells[_NONE])
    measured = {(str(one.configuration), str(one.workload)) for one in found.cells}
    return PriceList(
        name=found.environment["kernel"],
        head=ListHead(
            environment={
                name: value for name, value in found.environment.items() if name != "host"
            },
            programs=file_digest(program_path("hardcost-probe")),
            instrument=found.instrument,
            unit=cells[_NONE][0].unit,
            units=_units(cells[_NONE]),
            date=datetime.now(UTC).date().isoformat(),
            against=_AGAINST[kind] if within is None else _WITHIN.format(profile=within),
            within=within or "",
            rule=_RULE if kind == "records" else "",
            trials=len(measured),
            base=_by_metric((one, one.value) for one in cells[_NONE]),
            least=_by_metric(
                (one, bounds[one.workload, one.metric])
                for one in cells[_NONE]
                if not is_program(one.workload)
            ),
        ),
        prices=tuple(
            _price(one, cells[one.name], failed[one.name], bounds, saved=within is not None)
            for one in controls
        ),
    )


Bounds = Mapping[tuple[Workload, str], float]
"""The cost that can't be distinguished from none, by workload and metric."""


def _bounds(baseline: Sequence[Cell]) -> Bounds:
    """Return what placebos differ by on each metric, or, if that is more, as a share on any.

    A list has a hundred controls to eight placebos, so that some control shows a difference where
    no placebo did. Calls that are measured under perturbations have bounds of their own. Programs
    have none: their costs are listed with their intervals, whatever these are.

    Boot and memory are too few for a share, and half of the placebos, of sysctls, change no boot:
    of a hundred normal draws the largest is two and a half times that of four. Modules have no
    placebos, so half a per cent of these is chance in any list, and so are 16 pages of memory.
    """
    steady = [one for one in baseline if one.trials == 1 and is_call(one.workload)]
    share = max((one.least / one.value for one in steady if one.value > 0), default=0.0)

    def bound(one: Cell) -> float:
        if is_start(one.workload):
            least = _LEAST_MEMORY if one.workload == _MEMORY else 0.0
            return max(_START_FACTOR * one.least, round(_START_CHANCE * one.value, 3), least)
        return max(one.least, round(share * one.value, 3))

    return {(one.workload, one.metric): bound(one) for one in baseline}


def _units(cells: Sequence[Cell]) -> dict[str, str]:
    """Return the units by workload, where they are not that of the first."""
    return {str(one.workload): one.unit for one in cells if one.unit != cells[0].unit}


def _by_metric(values: Iterator[tuple[Cell, float]]) -> ByMetric:
    found: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for cell, value in values:
        found[str(cell.workload)][cell.metric] = value
    return dict(found)


def _price(
    control: ListedControl,
    cells: Sequence[Cell],
    failed: dict[str, str],
    bounds: Bounds,
    *,
    saved: bool,
) -> ListedPrice:
    """Return a control's price; with `saved`, or where it was switched off, what that saved."""
    without = None if control.without is None else control.without.name
    if control.why is not None:
        return ListedPrice(control=control.name, why=control.why)
    if not cells:
        why = "; ".join(dict.fromkeys(failed.values())) or "its trials failed"
        return ListedPrice(control=control.name, without=without, why=why)
    costs: defaultdict[str, dict[str, CostInterval]] = defaultdict(dict)
    for cell in cells:
        bound = bounds[cell.workload, cell.metric]
        if not is_program(cell.workload) and (
            abs(cell.difference) <= bound or cell.may_be_baseline
        ):
            continue
        base = cell.value - cell.difference
        low, high = (round(base * (it - 1), 3) for it in (cell.ratio_low, cell.ratio_high))
        low, high = min(low, cell.difference), max(high, cell.difference)
        less = saved or without is not None
        cost = (-cell.difference, -high, -low) if less else (cell.difference, low, high)
        costs[str(cell.workload)][cell.metric] = cost
    return ListedPrice(control=control.name, without=without, costs=dict(costs), missing=failed)
