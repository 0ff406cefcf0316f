"""What is known of a profile's audit rules before a bill is measured: predicted costs, lint."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from auditrules.auditctl.translate import Target
from auditrules.cost.constants import Constants
from auditrules.kernel.field_tests import UnresolvedError
from auditrules.lint.checks import findings_in
from auditrules.lint.context import LintOptions, gather
from auditrules.load.load import LoadedLines, load_rules, readings_of
from auditrules.load.target import NOWHERE
from auditrules.model.location import Location
from auditrules.model.rule import Rule
from hardcost.analysis.bill.prediction import PredictedRule, predict_rules
from hardcost.calibration import kernel_constants
from hardcost.controls.control import Profile
from hardcost.library.measurement import Measuring
from hardcost.machines.machine import Machine
from hardcost.mechanisms.audit import AuditRule
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache


def of_profile(profile: Profile, constants: Constants | None) -> dict[str, PredictedRule]:
    """Return the prediction for each audit rule of a profile, by the rule's name.

    Without `constants`, those of the kernel that was measured, no cost is.

    Nothing is predicted for rules that the kernel would refuse, or that name users whose numbers
    only the guest knows: measuring shows what is wrong with them.
    """
    rules = numbered_rules(profile)
    found = load_as_measured(rules, constants)
    if not found.rules or found.failing:
        return {}
    codes = _findings(rules, NOWHERE.likely_target(rules), Constants.of_debian())
    sources = [rule.source for rule in found.rules if rule.source is not None]
    try:
        known = predict_rules(found.rules, constants, [codes.get(one.place, ()) for one in sources])
    except UnresolvedError:
        return {}
    return {source.text: one for source, one in zip(sources, known, strict=True)}


def numbered_rules(profile: Profile) -> tuple[Rule, ...]:
    """Return a profile's audit rules, each at the line that is its control's number from 1.

    Rules of a TOML file may share a line, or have none.
    """
    return tuple(
        replace(control.rule, place=Location(profile.name, number))
        for number, control in enumerate(profile.controls, 1)
        if isinstance(control, AuditRule)
    )


def load_as_measured(rules: Sequence[Rule], constants: Constants | None) -> LoadedLines:
    """Return the fate of rules by the auditctl of the guest where constants were fitted."""
    loader = "3.0.9" if constants is None else constants.auditctl
    return load_rules(rules, replace(NOWHERE.likely_target(rules), auditctl=loader))


def constants_for(
    machine: Machine, how: Measuring, environment: Mapping[str, str]
) -> tuple[Constants | None, tuple[str, ...]]:
    """Return constants for the kernel that was measured, and a note if they are not its own.

    Where there are none, the note says why.
    """
    found = kernel_constants.constants_of_record(machine, Cache(), environment)
    if found is not None:
        return found, kernel_constants.note_other_release(found, environment)
    about, measured = Constants.of_debian().about, environment.get("kernel", "another kernel")
    remedy = kernel_constants.fit_remedy(how.wanted)
    if machine.environment(Boot())["kernel"] != measured:
        remedy = "there are none for a kernel that was built for a bill"
    return None, (
        (
            f"no costs are predicted: the cost model has no constants for kernel {measured}, "
            f"processor model {environment.get('cpu_model')}, QEMU {environment.get('qemu')}, only "
            f"for kernel {about['kernel']}, processor model {about['cpu_model']}, QEMU "
            f"{about['qemu']}; {remedy}"
        ),
    )


def _findings(
    rules: Sequence[Rule], machine: Target, constants: Constants
) -> Mapping[Location | None, list[str]]:
    """Return the codes of what lint finds in the rules, by their location."""
    found: defaultdict[Location | None, list[str]] = defaultdict(list)
    context = gather([readings_of(rules)], (), LintOptions(constants=constants), machine)
    for finding in findings_in(context):
        if context.leaves_out(finding.code, finding.spot):
            continue
        place = finding.spot.at(None)
        if finding.code not in found[place]:
            found[place].append(finding.code)
    return found
