"""What the hardening of this machine costs: what is in force, priced without measuring it.

Settings have the prices of the lists, audit rules those that the cost model of Debian's kernel
predicts. Both are weighed by how often each call is made.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from auditrules.cost.histogram import general
from auditrules.cost.predict import Histogram
from auditrules.model.rule import RuleSet
from hardcost.controls.control import Control, Controls, Profile, of_kind
from hardcost.errors import InputError, RequestError
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import InForce, Survey
from hardcost.in_force.over_ssh import fetch
from hardcost.in_force.read import read
from hardcost.library import profiles
from hardcost.library.here_policy import HerePolicy, apply_policy
from hardcost.library.here_prices import Pricing, added_up, lists_near
from hardcost.library.interrupt import until_done
from hardcost.mechanisms.audit import AuditRule, controls_of
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.mechanisms.registry import ALL
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.here import HereFinding, HereItem, MissingControl
from hardcost.model.finding.price import linux_version
from hardcost.model.request import CheckedRequest
from hardcost.profiles.importers.sysctl_keys import without_effect
from hardcost.units import visible

_ASSUMED = "an assumed mix of calls (--histogram takes your own)"
_OWN = "the mix of calls that was given"
_ANYWAY = "the kernel or the distribution has it anyway"
_NOT_IN_PROFILES = "a profile can't have it"
_SSH = "ssh:"
_RELEASE = "/proc/sys/kernel/osrelease"


@dataclass(frozen=True)
class HereRequest(CheckedRequest):
    """A request for what the hardening in force on this machine costs.

    `root` is the folder of another system, such as a mounted image: what its files would put in
    force. `machine` is the address of another machine, such as `ssh:root@host`. `histogram` says
    how often each call is made (None: an assumed mix). `against` names a profile, of which is said
    what is not in force. `policy` says what is accepted whatever it costs.
    """

    _: KW_ONLY
    root: Path | None = None
    machine: str | None = None
    histogram: Histogram | None = None
    against: str | None = None
    policy: HerePolicy | None = None

    @property
    def words(self) -> str:
        """The words of `hardcost here` that name the machine; "" for this one."""
        return self.machine or (f"--root {shlex.quote(str(self.root))}" if self.root else "")


def here(request: HereRequest) -> HereFinding:
    """Return what is in force on the machine, and what it costs. Nothing is measured or changed.

    Raises:
        InputError: The root is no folder, the machine no address, or there is no such profile.
        MachineError: The machine can't be reached.
    """
    HereRequest.expect(request)
    return Look(request).finding


@dataclass(frozen=True)
class Look:
    """A look at a machine, which is taken once."""

    request: HereRequest

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
            return until_done(fetch(machine.removeprefix(_SSH)))
        if root is not None and not root.is_dir():
            raise InputError(f"the root {root} is no folder")
        files = MachineFiles(root)
        if not files.exists("/etc"):
            raise InputError(f"{root} holds no system: it has no /etc")
        return files

    @cached_property
    def survey(self) -> Survey:
        """What is in force, and what could not be seen."""
        return read(self.files)

    @cached_property
    def finding(self) -> HereFinding:
        """What is in force, priced."""
        release, mix = _release(self.files), self.request.histogram
        lists = lists_near(release)
        pricing = Pricing(lists, mix or general())
        rules = pricing.of_rules(self.survey.found)
        priced = [pricing.item(one, rules) for one in self.survey.found]
        items = [item for item, _ in priced]
        set_here = (
            costs
            for item, costs in priced
            if not item.by_default and item.kind != AuditRule.noun  # rules are priced together
        )
        costs = added_up((rules.total, *set_here))
        notes = list(self.survey.notes)
        if release and linux_version(release) != lists[0].version:
            notes.append(f"no list is of Linux {release}: the prices are of {lists[0].kernel}")
        found = HereFinding(
            machine=self.files.name,
            words=self.request.words,
            kernel=release,
            priced_on=lists[0].kernel,
            mix=_ASSUMED if mix is None else _OWN,
            assumed=mix is None,
            share=pricing.share(costs),
            first_rule=pricing.share(rules.first),
            records=pricing.share(rules.records),
            calls=pricing.calls(costs),
            items=tuple(sorted(items, key=_dearest_first)),
            unseen=self.survey.unseen,
            against=self.request.against,
            missing=tuple(self._missing(pricing)),
            unjudged=len(self._wanted) - len(self._judged),
            notes=tuple(notes),
        )
        policy = self.request.policy
        return found if policy is None else apply_policy(found, policy, datetime.now(UTC).date())

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
        there = self._there
        blind = self.survey.blind
        return tuple(
            one for one in self._wanted if _form(one) in there or not isinstance(one, blind)
        )

    @cached_property
    def _there(self) -> frozenset[object]:
        found = (one.control for one in self.survey.found)
        return frozenset(_form(one) for one in found if one is not None)

    def _missing(self, pricing: Pricing) -> Iterator[MissingControl]:
        """Yield the controls of the named profile that are not in force."""
        for control in self._judged:
            if _form(control) not in self._there:
                alone = InForce(AuditRule.noun, control.name, control)
                item, _ = pricing.item(alone, pricing.of_rules([alone]))
                yield MissingControl(name=control.name, share=item.share)

    @cached_property
    def profile(self) -> Profile:
        """What was set, as a profile, which can be measured and exported.

        What the kernel or the distribution has anyway is left out, as is what no profile can have.

        Raises:
            InputError: There is nothing that a profile can have.
        """
        kept: list[Control] = []
        notes: list[str] = []
        for one in self.survey.found:
            why = _left_out(one)
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
        audit = controls_of(RuleSet(rules)) if rules else ()
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


def _release(files: MachineFiles) -> str:
    if not files.live:
        return ""
    return (files.text(_RELEASE) or "").strip()


def _dearest_first(item: HereItem) -> tuple[bool, float, str]:
    return (item.by_default, -(item.share or 0.0), item.name)
