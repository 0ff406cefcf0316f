"""A gate that predicts: two sets of audit rules, priced by a kernel's constants; no guest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from auditrules.cost.constants import Constants
from auditrules.load.load import Fate, load_rules
from auditrules.load.target import NOWHERE
from auditrules.model.kernel_rule import KernelRule
from auditrules.prove.unknown_ids import numbers_for, resolve_ids
from auditrules.tables.lookup import Auditctl
from hardcost.analysis.change.growth import line_of
from hardcost.analysis.change.prediction import RuleSets, growths
from hardcost.calibration import kernel_constants
from hardcost.controls.control import Profile
from hardcost.errors import InputError, RequestError
from hardcost.library.gates.sides import Profiles
from hardcost.library.interrupt import until_done
from hardcost.machines import names
from hardcost.machines.options import MachineOptions
from hardcost.measure.monitor import Monitor
from hardcost.mechanisms.audit import AuditRule, audit_rules
from hardcost.model.finding.change import Change, ChangeLine, Gate
from hardcost.plan.change import changes
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache

_CPU = "max"
_MACHINE = "vm"  # whose kernel the constants are of


def predict_gate(both: Profiles, wanted: MachineOptions, monitor: Monitor) -> Gate:
    """Return the predicted cost of the change of rules in the guests that are wanted.

    Raises:
        InputError: There are no constants for the kernel, or something else than rules changed.
    """
    changed = changes(both.base, both.head)
    others = [
        control.name
        for profile, own in ((both.head, changed.added), (both.base, changed.removed))
        for control in (profile.controls[at] for at in own)
        if not isinstance(control, AuditRule)
    ]
    if others:
        raise RequestError(
            f"`predict` prices audit rules alone, and the change has {others[0]}",
            hint="without `predict` it is measured",
        )
    constants, of_another = constants_for(wanted, monitor)
    by = constants.auditctl
    sets = _rule_sets(both, by, changed.added, changed.removed)
    found, unknown = growths(sets, constants)
    if not found and constants.without:
        raise RequestError(
            f"no metric can be predicted: {unknown[0]}", hint="without `predict` it is measured"
        )
    if not found:
        raise InputError(
            f"the constants of kernel {constants.about.get('kernel')} were fitted by an earlier"
            " hardcost, and percentages need a figure that they lack",
            hint=kernel_constants.fit_remedy(wanted),
        )
    about = constants.about
    notes = ["instructions are not time; a typical call is priced: successful, on unwatched files"]
    notes += of_another
    if changed.of_baseline:
        notes.append("audit's own settings changed, too; what that costs is not predicted")
    return Gate(
        base=both.names[0],
        head=both.names[1],
        how="predicted",
        conditions=(
            f"constants of kernel {about.get('kernel')}",
            f"QEMU {about.get('qemu')}",
            f"processor model {about.get('cpu_model')}",
            f"fitted on {about.get('date')}",
        ),
        growths=found,
        lines=(*sets.added.values(), *sets.removed.values()),
        unknown=unknown,
        notes=tuple(notes),
    )


def constants_for(wanted: MachineOptions, monitor: Monitor) -> tuple[Constants, tuple[str, ...]]:
    """Return constants for the kernel that is wanted, and a note if they are not its own.

    Nothing is booted.

    Raises:
        InputError: None were fitted to it.
    """
    wanted = MachineOptions(
        guest=wanted.guest, kernel=wanted.kernel, cpu=wanted.cpu, qemu=wanted.qemu
    )
    if wanted == MachineOptions(cpu=_CPU):
        return Constants.of_debian(), ()
    names.check(_MACHINE, wanted)
    machine = until_done(names.make(_MACHINE, wanted, monitor))
    found, of_another = kernel_constants.constants_at_hand(machine, Cache())
    if found is None:
        environment = machine.environment(Boot())
        raise InputError(
            f"there are no constants for kernel {environment.get('kernel')}, processor model"
            f" {wanted.cpu}, QEMU {environment.get('qemu')}; a prediction from another's would be"
            " wrong",
            hint=kernel_constants.fit_remedy(wanted),
        )
    return found, of_another


def _rule_sets(
    both: Profiles, by: Auditctl, added: Sequence[int], removed: Sequence[int]
) -> RuleSets:
    """Return both sets as the kernel holds them, with unknown users as unused numbers."""
    base, base_at = _loaded_rules(both.base, by)
    head, head_at = _loaded_rules(both.head, by)
    numbers = numbers_for((*base, *head), {})
    return RuleSets(
        base=resolve_ids(base, numbers),
        head=resolve_ids(head, numbers),
        added=_lines(both.head, head_at, added, Change.ADDED),
        removed=_lines(both.base, base_at, removed, Change.REMOVED),
    )


def _loaded_rules(profile: Profile, by: Auditctl) -> tuple[tuple[KernelRule, ...], dict[int, int]]:
    """Return the rules that stay loaded, and the position of each by its control's index."""
    of_rules = [at for at, one in enumerate(profile.controls) if isinstance(one, AuditRule)]
    rules = audit_rules(profile.controls)
    target = replace(NOWHERE.likely_target(rules), auditctl=by)
    held: list[KernelRule] = []
    positions = {}
    for at, line in zip(of_rules, load_rules(rules, target, profile.name).lines, strict=True):
        if line.fate is Fate.LOADED and line.rule is not None:
            positions[at] = len(held)
            held.append(line.rule)
    return tuple(held), positions


def _lines(
    profile: Profile, positions: dict[int, int], own: Sequence[int], change: Change
) -> dict[int, ChangeLine]:
    return {positions[at]: line_of(profile.controls[at], change) for at in own if at in positions}
