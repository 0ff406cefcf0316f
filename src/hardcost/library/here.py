"""What the hardening of this machine costs: what is in force, priced without measuring it.

Settings have the prices of the lists, audit rules those that the cost model of Debian's kernel
predicts. Both are weighed by how often each call is made.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from auditrules.cost.histogram import general
from auditrules.cost.predict import Histogram
from auditrules.load.target import NOWHERE
from auditrules.model.rule import RuleSet
from hardcost.controls.control import Control, Controls, Profile, of_kind
from hardcost.errors import InputError, RequestError
from hardcost.in_force.audit import STATE
from hardcost.in_force.boot import command_line
from hardcost.in_force.calls import CountedCalls, Sample, counted
from hardcost.in_force.daemons import auditd_settings
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey
from hardcost.in_force.over_ssh import fetch
from hardcost.in_force.read import read
from hardcost.library import profiles
from hardcost.library.here_policy import HerePolicy, apply_policy
from hardcost.library.here_prices import Pricing, RulePrices, added_up, lists_near
from hardcost.library.interrupt import until_done
from hardcost.measure.monitor import Monitor, Silent
from hardcost.mechanisms.audit import AuditRule, audit_rules, controls_of
from hardcost.mechanisms.auditd import Auditd
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.mechanisms.registry import ALL
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.here import CheaperRules, HereFinding, HereItem, MissingControl, MixBy
from hardcost.model.finding.price import linux_version
from hardcost.model.request import CheckedRequest
from hardcost.profiles.cheaper_rules import Equivalent, with_cheaper_rules
from hardcost.profiles.importers.sysctl_keys import without_effect
from hardcost.units import count, visible

_ASSUMED = "an assumed mix of calls"
_OWN = "the mix of calls that was given"
_SECONDS = 10  # that calls are counted, unless it is said
_MOST_SECONDS = 3600
_FEW_CALLS = 10_000  # of which a mix would be chance
_ANYWAY = "the kernel or the distribution has it anyway"
_NOT_IN_PROFILES = "a profile can't have it"
_SSH = "ssh:"
_RELEASE = "/proc/sys/kernel/osrelease"


@dataclass(frozen=True)
class HereRequest(CheckedRequest):
    """A request for what the hardening in force on this machine costs.

    `root` is the folder of another system, such as a mounted image: what its files would put in
    force. `machine` is the address of another machine, such as `ssh:root@host`. `histogram` says
    how often each call is made (None: an assumed mix); instead the machine's own calls are counted
    for `sample` seconds, or those of the process `strace`, which that slows. With `cheaper`, rules
    are looked for that record the same and cost less. With `fit`, all is measured on the
    machine's own kernel, in guests. `against` names a profile, of which is said what is not in
    force. `policy` says what is accepted whatever it costs.
    """

    _: KW_ONLY
    root: Path | None = None
    machine: str | None = None
    histogram: Histogram | None = None
    sample: int | None = None
    strace: int | None = None
    cheaper: bool = False
    fit: bool = False
    against: str | None = None
    policy: HerePolicy | None = None

    @property
    def counting(self) -> Sample | None:
        """For how long which calls are counted; None if they are not.

        Raises:
            InputError: They can't be.
        """
        if self.sample is None and self.strace is None:
            return None
        if self.histogram is not None:
            raise RequestError("`histogram` has counts already: leave out `sample` and `strace`")
        if self.root is not None:
            option = "sample" if self.strace is None else "strace"
            raise RequestError(f"`{option}`: the system in {self.root} does not run")
        seconds = _SECONDS if self.sample is None else self.sample
        if not 1 <= seconds <= _MOST_SECONDS:
            raise RequestError(f"`sample`: {seconds} s is not within 1 to {_MOST_SECONDS} s")
        if self.strace is not None and self.strace < 1:
            raise RequestError(f"`strace`: {self.strace} is no number of a process")
        return Sample(seconds, self.strace)

    @property
    def words(self) -> str:
        """The words of `hardcost here` that name the machine; "" for this one."""
        return self.machine or (f"--root {shlex.quote(str(self.root))}" if self.root else "")


def here(request: HereRequest, monitor: Monitor | None = None) -> HereFinding:
    """Return what is in force on the machine, and what it costs. Nothing there is changed.

    Raises:
        InputError: The root is no folder, the machine no address, or there is no such profile.
        MachineError: The machine can't be reached, or its calls can't be counted.
    """
    HereRequest.expect(request)
    return Look(request, monitor or Silent()).finding


@dataclass(frozen=True)
class Look:
    """A look at a machine, which is taken once."""

    request: HereRequest
    monitor: Monitor = field(default_factory=Silent)

    @cached_property
    def files(self) -> MachineFiles:
        """The machine's files."""
        root, machine = self.request.root, self.request.machine
        if root is not None and machine is not None:
            raise RequestError("`root` and `machine` are two machines: name one")
        if machine is not None:
            if not machine.startswith(_SSH):
                hint = "such as ssh:root@host; without it, this machine is looked at"
                raise RequestError(f"`machine`: {machine!r} is no address", hint=hint)
            with self._counting():
                return until_done(fetch(machine.removeprefix(_SSH), self.request.counting))
        if root is not None and not root.is_dir():
            raise InputError(f"the root {root} is no folder")
        files = MachineFiles(root)
        if not files.exists("/etc"):
            raise InputError(f"{root} holds no system: it has no /etc")
        return files

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Say what is waited for while calls are counted."""
        sample = self.request.counting
        if sample is None:
            yield
            return
        if sample.process is not None:
            self.monitor.note(f"strace slows process {sample.process} while it counts its calls")
        with self.monitor.work() as tell:
            tell(f"counting system calls for {sample.seconds} s")
            yield

    @cached_property
    def counted(self) -> CountedCalls | None:
        """How often the machine makes each call; None if that is not counted."""
        sample = self.request.counting
        if sample is None:
            return None
        files = self.files
        if self.request.machine is not None:
            return counted(files.count_calls(sample))
        with self._counting():
            return counted(files.count_calls(sample))

    @cached_property
    def survey(self) -> Survey:
        """What is in force, and what could not be seen."""
        return read(self.files)

    @cached_property
    def finding(self) -> HereFinding:
        """What is in force, priced."""
        sampled = self.counted
        mix, by, whose = self._mix
        release = _release(self.files)
        lists, constants = lists_near(release), None
        if self.request.fit:
            from hardcost.library.here_fit import (  # noqa: PLC0415  (nothing else measures)
                measured_here,
                own_kernel,
            )

            fitted = measured_here(own_kernel(self.files), self.survey.found, self.monitor)
            constants = fitted.constants
            lists = (*((fitted.prices,) if fitted.prices is not None else ()), *lists)
        pricing = Pricing(lists, mix, constants)
        rules = pricing.of_rules(self.survey.found)
        priced = [pricing.item(one, rules) for one in self.survey.found]
        priced += pricing.overlaps(self.survey.found, rules)
        items = [item for item, _ in priced]
        set_here = (
            costs
            for item, costs in priced
            if not item.by_default and item.kind != AuditRule.noun  # rules are priced together
        )
        costs = added_up((rules.total, *set_here))
        notes = [*self.survey.notes, *_remarks(sampled)]
        if release and linux_version(release) != lists[0].version:
            notes.append(f"no list is of Linux {release}: the prices are of {lists[0].kernel}")
        found = HereFinding(
            machine=self.files.name,
            words=self.request.words,
            kernel=release,
            priced_on=lists[0].kernel,
            predicted_on=pricing.predicted_on,
            mix=whose,
            mix_by=by,
            counted=None if sampled is None else sampled.calls,
            covered=pricing.covered,
            share=pricing.share(costs),
            first_rule=pricing.share(rules.first),
            calls=pricing.calls(costs),
            items=tuple(sorted(items, key=_dearest_first)),
            cheaper=self._cheaper_by(pricing, rules, pricing.share(costs)),
            unseen=self.survey.unseen,
            against=self.request.against,
            missing=tuple(self._missing(pricing)),
            unjudged=len(self._wanted) - len(self._judged),
            notes=tuple(notes),
        )
        policy = self.request.policy
        return found if policy is None else apply_policy(found, policy, datetime.now(UTC).date())

    @property
    def _mix(self) -> tuple[Histogram, MixBy, str]:
        """How often each call is made, how that is known, and whose calls they are."""
        found, request = self.counted, self.request
        if found is None:
            if request.histogram is None:
                return general(), "assumed", _ASSUMED
            return request.histogram, "file", _OWN
        seconds = f"{found.by} for {request.counting.seconds} s" if request.counting else found.by
        if found.by == "proc":
            part = f"{found.calls:,} reads, writes and new processes counted by /proc"
            return found.mix, "proc", f"its own calls, as far as {part}, and an assumed rest"
        whose = "its" if request.strace is None else f"process {request.strace}'s"
        number = f"{found.calls:,} counted by {seconds}"
        return found.mix, found.by, f"{whose} own calls ({number})"

    @cached_property
    def _wanted(self) -> tuple[Control, ...]:
        """The controls of the named profile."""
        if self.request.against is None:
            return ()
        found = profiles.profile_named(self.request.against).controls
        return tuple(one for one in found if not one.in_baseline)

    @cached_property
    def _judged(self) -> tuple[Control, ...]:
        """Those of which it can be said whether they are in force."""
        blind = self.survey.blind
        return tuple(
            one for one in self._wanted if self._is_there(one) or not isinstance(one, blind)
        )

    @cached_property
    def _there(self) -> frozenset[object]:
        found = [one.control for one in self.survey.found if one.kind != STATE]
        found += map(BootParameter, command_line(self.files))  # also those that no list knows
        return frozenset(_form(one) for one in found if one is not None)

    def _is_there(self, control: Control) -> bool:
        """Say whether a control is in force."""
        if isinstance(control, Auditd):
            there = auditd_settings(self.files)
            wanted = {"flush": control.flush, "freq": str(control.freq), **dict(control.settings)}
            return all(there.get(key) == value.lower() for key, value in wanted.items())
        return _form(control) in self._there

    def _missing(self, pricing: Pricing) -> Iterator[MissingControl]:
        """Yield the controls of the named profile that are not in force."""
        for control in self._judged:
            if not self._is_there(control):
                alone = InForce(AuditRule.noun, control.name, control)
                item, _ = pricing.item(alone, pricing.of_rules([alone]))
                yield MissingControl(name=control.name, share=item.share)

    def _cheaper_by(self, pricing: Pricing, now: RulePrices, whole: float) -> CheaperRules | None:
        """Return what cheaper rules save; None if there are none, or they were not asked for."""
        if not self._cheaper.said:
            return None
        rules = of_kind(self._cheaper.profile.controls, AuditRule)
        then = pricing.of_rules([InForce(one.noun, one.name, one) for one in rules])
        saves = pricing.share(now.total) - pricing.share(then.total)
        return CheaperRules(
            rules=len(of_kind(self._as_it_is.controls, AuditRule)),
            into=len(rules),
            share=whole - saves,
            saves=saves,
            assumptions=self._cheaper.assumptions,
        )

    @cached_property
    def _cheaper(self) -> Equivalent:
        """What was set, with audit rules that cost less if they are wanted and there are such."""
        rules = audit_rules(one.control for one in self.survey.found if one.control is not None)
        if not self.request.cheaper or not rules:
            return Equivalent(Profile("", "", "", ()))
        target = NOWHERE.likely_target(rules)
        with self.monitor.work() as tell:
            return with_cheaper_rules(self._as_it_is, target, tell, self._mix[0])

    @property
    def profile(self) -> Profile:
        """What was set, as a profile, which can be measured and exported.

        With `cheaper`, its audit rules are those that cost less.

        Raises:
            InputError: There is nothing that a profile can have.
        """
        return self._cheaper.profile if self._cheaper.said else self._as_it_is

    @cached_property
    def _as_it_is(self) -> Profile:
        """What was set, as a profile.

        What the kernel or the distribution has anyway is left out, as is what no profile can have.

        Raises:
            InputError: There is nothing that a profile can have.
        """
        kept: list[Control] = []
        notes: list[str] = []
        has_rules = any(isinstance(one.control, AuditRule) for one in self.survey.found)
        for one in self.survey.found:
            why = _ANYWAY if one.kind == STATE and has_rules else _left_out(one)
            if why is None and one.control is not None:
                kept.append(one.control)
            elif why != _ANYWAY:
                notes.append(f"left out: {visible(one.name)}: {why}")
        name = visible(self.files.name)
        if not kept:
            raise InputError(
                f"nothing was set on {name} that a profile can have",
                hint=None if self.files.is_root else "what only root may see is not in it",
            )
        rules = tuple(one.rule for one in of_kind(kept, AuditRule))
        others = [one for one in kept if not isinstance(one, AuditRule)]
        backlog = self.survey.backlog_limit
        if rules and backlog is None:
            notes.append("audit's backlog limit is assumed: no file sets it")
        audit = controls_of(RuleSet(rules, backlog_limit=backlog)) if rules else ()
        whole = Controls((*others, *audit)).with_companions()
        title = f"The hardening in force on {name}"
        return Profile(name, title, f"read on {name}", whole, tuple(notes))


def _left_out(one: InForce) -> str | None:
    """Return why something in force is in no profile; None if it is in one."""
    control = one.control
    if control is None:
        return _NOT_IN_PROFILES
    if one.by_default or isinstance(control, KernelOption):
        return _ANYWAY
    if control.mechanism not in {it.name for it in ALL if it.toml}:
        return _NOT_IN_PROFILES
    return without_effect(control.key, control.value) if isinstance(control, Sysctl) else None


def _form(control: Control) -> object:
    """Return what is equal for two controls that do the same."""
    return control.form if isinstance(control, AuditRule) else control.setting


def _remarks(found: CountedCalls | None) -> Iterator[str]:
    """Yield what a reader should know of how calls were counted."""
    if found is None:
        return
    if found.why:
        yield f"no program counted system calls: {found.why}"
    if found.calls < _FEW_CALLS:
        made = f"only {count(found.calls, 'call')} were counted"
        yield f"{made}: count for longer, or while the machine does its usual work"


def _release(files: MachineFiles) -> str:
    if not files.live:
        return ""
    return (files.text(_RELEASE) or "").strip()


def _dearest_first(item: HereItem) -> tuple[bool, float, str]:
    return (item.by_default, -(item.share or 0.0), item.name)
