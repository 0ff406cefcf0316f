"""What is known of a profile's audit rules before a bill is measured: predicted costs, lint."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.analysis.predicted import expected
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.fieldtests import UnresolvedError
from hardcost.auditrules.lint.checks import lint
from hardcost.auditrules.lint.context import Options, gather
from hardcost.auditrules.loading import load_rules, readings_of
from hardcost.calibration import fitted
from hardcost.cli.rules.common import NOWHERE
from hardcost.controls.control import AuditRule
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.predicted import Expected
    from hardcost.auditrules.rule import Rule
    from hardcost.auditrules.translate import Target
    from hardcost.cli.options import Choices
    from hardcost.controls.control import Profile
    from hardcost.machines.machine import Machine


def of_profile(profile: Profile, constants: Constants | None) -> dict[str, Expected]:
    """Return what is expected of each audit rule of a profile, by its place.

    Without `constants`, those of the kernel that was measured, no cost is.

    Nothing is expected of rules that the kernel would refuse, or that name users whose numbers only
    the guest knows: what is wrong with them, measuring tells.
    """
    rules = tuple(control.rule for control in profile.controls if isinstance(control, AuditRule))
    machine = NOWHERE.likely_target(rules)
    loader = "3.0.9" if constants is None else fitted.auditctl(constants)
    found = load_rules(rules, replace(machine, auditctl=loader))
    if not found.rules or found.failing:
        return {}
    try:
        return expected(found.rules, constants, _findings(rules, machine, Constants.of_debian()))
    except UnresolvedError:
        return {}


def constants_for(
    machine: Machine, chosen: Choices, environment: Mapping[str, str]
) -> tuple[Constants | None, tuple[str, ...]]:
    """Return the constants of the kernel that was measured; where there are none, a note why."""
    found = fitted.of_measured(machine, Cache(), environment)
    if found is not None:
        return found, ()
    about, measured = Constants.of_debian().about, environment.get("kernel", "another kernel")
    words = [f"--kernel {chosen.wanted.kernel}"] if chosen.wanted.kernel else []
    words += [f"--cpu {chosen.wanted.cpu}"] if chosen.wanted.cpu != about["cpu_model"] else []
    how = f"`hardcost rules cost --fit {' '.join([*words, 'FILE'])}` measures them in a few minutes"
    if machine.environment(Boot())["kernel"] != measured:
        how = "there are none for a kernel that was built for a bill"
    return None, (
        (
            f"no costs are predicted: the cost model has no constants for kernel {measured}, "
            f"processor model {environment.get('cpu_model')}, QEMU {environment.get('qemu')}, only "
            f"for kernel {about['kernel']}, processor model {about['cpu_model']}, QEMU "
            f"{about['qemu']}; {how}"
        ),
    )


def _findings(rules: Sequence[Rule], machine: Target, constants: Constants) -> dict[str, list[str]]:
    """Return the codes of what lint finds in the rules, by their place."""
    readings = readings_of([rule for rule in rules if rule.place])
    found: defaultdict[str, list[str]] = defaultdict(list)
    context = gather([readings], (), Options(constants=constants), machine)
    for finding in lint(context):
        if context.leaves_out(finding.code, finding.spot):
            continue
        place = f"{finding.spot.file}:{finding.spot.line}"
        if finding.code not in found[place]:
            found[place].append(finding.code)
    return found
