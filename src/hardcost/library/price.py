"""What a control costs, at once: from the lists that come with hardcost, or predicted."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache

from auditrules.read.rule_text import is_rule
from hardcost.controls.control import Control, Controls, Profile, of_profile
from hardcost.errors import InputError
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.price import (
    CallPrice,
    ControlPrice,
    ControlPrices,
    KernelPrice,
    PriceWithin,
    dearest_call,
    dearest_program,
    dearest_start,
    is_call,
    is_program,
    is_start,
)
from hardcost.model.request import CheckedRequest
from hardcost.model.workload import workload_of
from hardcost.prices import within
from hardcost.prices.listed import ListedControl, listed, settings_in
from hardcost.prices.price_list import (
    CostInterval,
    ListedPrice,
    PriceList,
    lists_within,
    shipped_lists,
)
from hardcost.profiles import benchmark_ids
from hardcost.profiles.benchmark_ids import Required
from hardcost.profiles.kernel import defaults
from hardcost.units import join_in_prose, visible

_OPTION = "CONFIG_"
_SLIP = 0.9  # how alike two keys are if one is meant for the other
_MODULES = {"selinux": "lsm=enforcing", "apparmor": "lsm=apparmor"}
"""What people call the security modules."""

NOT_LISTED = "no list has one for it yet"


@dataclass(frozen=True)
class PriceRequest(CheckedRequest):
    """A request for the prices of controls: names of settings, benchmarks' names, or rules.

    `kernel` is the version, such as `6.1`, of the only kernel whose prices are wanted.
    """

    what: tuple[str, ...]
    _: KW_ONLY
    kernel: str | None = None


def price(request: PriceRequest) -> ControlPrices:
    """Return the prices of what is asked for. Nothing is measured, fetched or booted.

    Raises:
        InputError: There is no such control or kernel; near names are proposed.
    """
    PriceRequest.expect(request)
    if not request.what:
        raise InputError("no control is named", hint="such as init_on_alloc=1 or RHEL-09-654010")
    lists = _lists(request.kernel)
    notes: dict[str, None] = {}
    found: dict[str, ControlPrice] = {}
    for text in request.what:
        for one in _priced(text, lists, notes):
            found.setdefault(one.control, _on_wanted(one, request.kernel))
    return ControlPrices(asked=request.what, controls=tuple(found.values()), notes=tuple(notes))


@dataclass(frozen=True)
class ShortPrice:
    """What a control adds to the call that grows most by it: in words, and as a share."""

    text: str
    share: float


@cache
def price_in_short(control: Control) -> ShortPrice | None:
    """Return a control's price in short; None where no kernel has one.

    Such as `adds up to 5.0% (open; Linux 6.1)`. The oldest kernel that has a price decides.
    """
    found = price_of_control(control, shipped_lists())
    known = next((one for one in found.kernels if one.known is not None), None)
    if known is None:
        return None
    how = f"{'predicted, ' if known.known == 'predicted' else ''}Linux {known.version}"
    most = dearest_call([known]) or dearest_program([known])
    started = dearest_start([known])
    if most is None and started is not None:
        of = f"{100 * started.share:.1f}% to {started.workload.name} ({started.metric}; {how})"
        return ShortPrice(f"adds nothing to calls, {of}", 0.0)
    if most is None:
        return None if found.uncounted is not None else ShortPrice(f"adds nothing ({how})", 0.0)
    adds = f"{100 * most.share:.1f}%" if most.base else f"{most.cost:,.0f} instructions"
    least = "" if found.uncounted is None else "at least "
    to = most.metric if is_call(most.workload) else f"{most.workload.name} {most.metric}"
    return ShortPrice(f"adds {least}up to {adds} ({to}; {how})", most.share)


def with_prices(profile: Profile) -> Profile:
    """Return a profile with the price of each control that has one, as a remark."""
    priced = ((one.name, price_in_short(one)) for one in profile.controls if not one.in_baseline)
    said = ((name, price.text) for name, price in priced if price is not None)
    return replace(profile, remarks=(*profile.remarks, *said))


def names() -> tuple[str, ...]:
    """Return the names of all controls that have a price, or a reason why not."""
    return tuple(one.name for one in listed())


def search(word: str) -> tuple[ListedControl, ...]:
    """Return the controls of the list that have a word in their name, protection or sources."""
    wanted = word.casefold()
    return tuple(
        one
        for one in listed()
        if any(wanted in text.casefold() for text in (one.name, one.protects, *one.references))
    )


def _lists(kernel: str | None) -> tuple[PriceList, ...]:
    """Return the lists of one kernel, or all.

    Raises:
        InputError: There is none of that kernel.
    """
    every = shipped_lists()
    if kernel is None:
        return every
    found = tuple(one for one in every if kernel in {one.version, one.kernel})
    if not found:
        known = join_in_prose(dict.fromkeys(one.version for one in every))
        raise InputError(
            f"there are no prices of Linux {visible(kernel)}", hint=f"there are {known}"
        )
    return found


def _on_wanted(one: ControlPrice, kernel: str | None) -> ControlPrice:
    """Return a price on the wanted kernel alone: rules are predicted for one."""
    kept = tuple(it for it in one.kernels if kernel in {None, it.version, it.kernel})
    if kept or not one.kernels:
        return replace(one, kernels=kept)
    known = join_in_prose(dict.fromkeys(it.version for it in one.kernels))
    return replace(one, kernels=(), why=f"it is known for Linux {known} only")


def _priced(
    text: str, lists: Sequence[PriceList], notes: dict[str, None]
) -> Iterator[ControlPrice]:
    """Yield the prices of what one argument names.

    Raises:
        InputError: It names nothing, or several things.
    """
    if is_rule(text):
        from hardcost.library import price_rule  # noqa: PLC0415  (settings don't need it)

        yield from map(price_rule.price_of_rule, price_rule.rules_of(text))
    elif benchmark_ids.is_name(text):
        required = benchmark_ids.requirements_of(text)
        carried_out = _carried_out(required)
        notes.update(dict.fromkeys((required.title, *required.notes, *carried_out.notes)))
        for control in carried_out.controls:
            if not control.in_baseline:
                found = price_of_control(control, lists)
                yield replace(found, measure=found.measure or f"hardcost bill {shlex.quote(text)}")
    elif known := _listed(text):
        yield from (price_of_listed(one, lists) for one in known)
    elif _is_other_sysctl(text):
        yield price_of_control(Sysctl.of(text), lists)
    else:
        raise InputError(f"there is no setting '{visible(text)}' here", hint=_near(text))


def _carried_out(required: Required) -> Controls:
    """Return the controls that carry out a benchmark's control.

    Nearly all are settings, mount options or audit rules, which need no other kind to be imported.
    """
    tables = required.tables
    if tables.keys() <= {"sysctl", "boot"}:
        return Controls(tuple(settings_in(tables)))
    if tables.keys() == {"mount"}:
        from hardcost.mechanisms.mount import MountOptions  # noqa: PLC0415  (no other price needs it)

        mounts = tables["mount"].items()
        return Controls(tuple(MountOptions(path, tuple(words)) for path, words in mounts))
    if required.rules:
        from hardcost.library import price_rule  # noqa: PLC0415  (as in `_priced`)

        return price_rule.required_rules(required)
    from hardcost.profiles import catalogue  # noqa: PLC0415  (it takes long)

    return of_profile(catalogue.load(required.name))


def _is_other_sysctl(text: str) -> bool:
    """Say whether a text sets a sysctl that is not listed, and is no slip of one that is."""
    key, sign, _ = text.partition("=")
    if not sign or "." not in key or not key.isprintable():
        return False
    kinds = {one.name.partition("=")[0]: type(one.control) for one in listed()}
    keys = [one for one, kind in kinds.items() if kind is Sysctl]
    if key in kinds:
        return kinds[key] is Sysctl
    return not difflib.get_close_matches(key.casefold(), keys, 1, _SLIP)


def _near(text: str) -> str:
    """Return names that are near a text, and how to look for others."""
    every = {one.casefold(): one for one in (*names(), *_MODULES)}
    near = difflib.get_close_matches(text.casefold(), every, 3, 0.7)
    meant = f"did you mean {' or '.join(every[one] for one in near)}? " if near else ""
    return f"{meant}`hardcost price --search WORD` looks for one"


def _listed(text: str) -> tuple[ListedControl, ...]:
    """Return the controls that a text names: whole, in another spelling, or by the part before `=`.

    A name of something else that does the same stands for those.
    """
    key, sign, value = text.partition("=")
    key = _MODULES.get(key.casefold(), key)
    if "/" in key and "." not in key:
        key = key.replace("/", ".")  # as sysctl(8) takes it
    option = key.removeprefix(_OPTION) if key.startswith(_OPTION) else None
    if option is not None:
        return _named(f"{option}{sign}{value}", options_only=True)
    return _named(f"{key}{sign}{value}")


def _named(wanted: str, *, options_only: bool = False) -> tuple[ListedControl, ...]:
    every = [one for one in listed() if not options_only or one.kind == KernelOption.noun]
    spelled = {wanted, BootParameter(wanted).setting}
    whole = [one for one in every if spelled & {one.name, one.setting}]
    by_key = [one for one in every if "=" not in wanted and wanted == one.name.partition("=")[0]]
    found = whole or by_key
    if not found:  # such as MODULES=n, or MODULES
        found = [
            one
            for one in listed()
            if any(wanted in {same, same.partition("=")[0]} for same in one.same_as)
        ]
    return tuple(found)


# A control of the list ----------------------------------------------------------------------------


def price_of_control(control: Control, lists: Sequence[PriceList]) -> ControlPrice:
    """Return the price of a control, listed or not."""
    if control.mechanism == "audit":
        from hardcost.library.price_rule import price_of_rule  # noqa: PLC0415  (as in `_priced`)
        from hardcost.mechanisms.audit import AuditRule  # noqa: PLC0415  (as above)

        if isinstance(control, AuditRule):
            return price_of_rule(control)
    known = next((one for one in listed() if one.name == control.name), None)
    of = known or ListedControl(control.name, control.noun, control)
    return price_of_listed(of, lists)


def price_of_listed(one: ListedControl, lists: Sequence[PriceList]) -> ControlPrice:
    """Return the price of a control of the list, on each kernel that has one."""
    stand_in = one.equivalent
    control = one.control if stand_in is None else stand_in
    uncounted = next((it.uncounted for it in (one.without, control) if it is not None), None)
    found = ControlPrice(
        control=one.name,
        what=one.kind,
        protects=one.protects,
        severity=one.severity,
        demanded_by=(*_demands(control), *(it for it in one.references if _asks(it))),
        sources=tuple(it for it in one.references if not _asks(it)),
        default=None if control is None else defaults.default_of(control, ()),
        same_as=one.same_as,
        uses=None if stand_in is None else stand_in.name,
        uncounted=uncounted,
        caveats=(one.note,) if one.note else (),
        why=one.why,
        measure=_command(one.without or control),
    )
    if one.why is not None:
        return found
    name = one.name if stand_in is None else stand_in.name
    kernels = _join_by_kernel(filter(None, (_on_kernel(name, it) for it in lists)))
    if not kernels:
        return replace(found, why=NOT_LISTED)
    return replace(found, kernels=kernels)


def _asks(reference: str) -> bool:
    """Say whether a reference is a source that asks for a control, and no file of the kernel."""
    return ": " in reference


def _demands(control: Control | None) -> tuple[str, ...]:
    """Return the benchmarks' names of what requires a control."""
    if isinstance(control, Sysctl):
        return benchmark_ids.demanding_sysctl(control.key, control.value)
    if isinstance(control, BootParameter):
        return benchmark_ids.demanding_boot(control.text)
    return ()


def _command(control: Control | None) -> str | None:
    """Return the command that measures a control."""
    if isinstance(control, Sysctl):
        return f"hardcost bill {shlex.quote(control.name)}"
    if isinstance(control, BootParameter):
        return f"hardcost bill --boot {shlex.quote(control.text)}"
    if isinstance(control, Lsm):
        return f"hardcost bill --lsm {control.mode}"
    return None


def _join_by_kernel(parts: Iterable[KernelPrice]) -> tuple[KernelPrice, ...]:
    """Return a price for each kernel: a list may have been measured in parts.

    A part without a price is missing beside one that has one.
    """
    found: dict[str, KernelPrice] = {}
    for one in parts:
        first = found.get(one.kernel)
        found[one.kernel] = one if first is None else _join(first, one)
    return tuple(found.values())


def _join(one: KernelPrice, other: KernelPrice) -> KernelPrice:
    if one.known is None or other.known is None:
        first, second = (one, other) if other.known is None else (other, one)
        return replace(first, missing={**first.missing, **second.missing})
    return replace(
        one,
        calls=tuple(sorted((*one.calls, *other.calls), key=_by_size)),
        free=one.free + other.free,
        programs=(*one.programs, *other.programs),
        start=(*one.start, *other.start),
        within=(*one.within, *other.within),
        missing={**one.missing, **other.missing},
    )


def _by_size(one: CallPrice) -> float:
    """Return a key by which what changes most comes first."""
    return -abs(one.share)


def _on_kernel(control: str, prices: PriceList) -> KernelPrice | None:
    """Return the price of a control in a list; None if the list is not about it."""
    found = prices.price_of(control)
    if found is None:
        return None
    head = prices.head
    every = sorted(_costs(found, prices), key=_by_size)
    return KernelPrice(
        kernel=prices.kernel,
        known=None if found.why is not None else "measured",
        calls=tuple(one for one in every if is_call(one.workload)),
        free=_number_free(found, prices),
        programs=tuple(one for one in every if is_program(one.workload)),
        start=tuple(_start(found, prices, every)),
        within=tuple(_within(control, prices)),
        without=found.without,
        against=head.against,
        date=head.date,
        environment=head.environment,
        missing=found.missing if found.why is None else dict.fromkeys(head.base, found.why),
        why=found.why,
    )


def _costs(found: ListedPrice, prices: PriceList) -> Iterator[CallPrice]:
    for workload, costs in found.costs.items():
        for metric, cost in costs.items():
            yield _cost(prices, workload, metric, cost, saved=found.without is not None)


def _cost(
    prices: PriceList, workload: str, metric: str, span: CostInterval, *, saved: bool
) -> CallPrice:
    """Return a cost in a list; where it is what was `saved`, the list's base has it."""
    cost, low, high = span
    base = prices.head.base[workload][metric]
    return CallPrice(
        workload=workload_of(workload),
        metric=metric,
        unit=prices.head.units.get(workload, prices.head.unit),
        base=base - cost if saved else base,
        cost=cost,
        low=low,
        high=high,
    )


def _within(control: str, alone: PriceList) -> Iterator[PriceWithin]:
    """Yield what a control adds within each profile that has a list of the same kernel."""
    for inside in lists_within():
        if inside.kernel != alone.kernel:
            continue
        found = within.compare(control, alone, inside)
        if found is not None and found.compared:
            calls = (_cost(inside, *cost, saved=True) for cost in found.apart)
            yield PriceWithin(
                inside.head.within, found.compared, tuple(sorted(calls, key=_by_size))
            )


def _start(
    found: ListedPrice, prices: PriceList, costs: Sequence[CallPrice]
) -> Iterator[CallPrice]:
    """Yield what a control adds to each part of a system's start that was measured."""
    known = {(str(one.workload), one.metric): one for one in costs}
    for workload, metrics in prices.head.base.items():
        of = workload_of(workload)
        if not is_start(of) or workload in found.missing or found.why is not None:
            continue
        unit = prices.head.units.get(workload, prices.head.unit)
        for metric, base in metrics.items():
            free = CallPrice(
                workload=of, metric=metric, unit=unit, base=base, cost=0.0, low=0.0, high=0.0
            )
            yield known.get((workload, metric), free)


def _number_free(found: ListedPrice, prices: PriceList) -> int:
    """Return to how many of the calls that were measured a control adds nothing."""
    if found.why is not None:
        return 0
    calls = [one for one in prices.head.base if is_call(workload_of(one))]
    measured = (len(prices.head.base[one]) for one in calls if one not in found.missing)
    return sum(measured) - sum(len(found.costs.get(one, ())) for one in calls)
