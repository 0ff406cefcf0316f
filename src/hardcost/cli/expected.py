"""What is known of a profile's audit rules before a bill is measured: predicted costs, lint."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from hardcost.analysis.predicted import expected
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.lint.checks import lint
from hardcost.auditrules.lint.context import Options, gather
from hardcost.auditrules.rule import Kind, Reading
from hardcost.auditrules.semantics import DuplicateError, UnresolvedError
from hardcost.auditrules.translate import translate_all
from hardcost.cli.rules.common import NOWHERE
from hardcost.controls.control import AuditRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.analysis.predicted import Expected
    from hardcost.auditrules.rule import Rule
    from hardcost.auditrules.translate import Target
    from hardcost.controls.control import Profile


def of_profile(profile: Profile) -> dict[str, Expected]:
    """Return what is expected of each audit rule of a profile, by its place.

    Nothing is expected of rules that the kernel would refuse, or that name users whose numbers only
    the guest knows: what is wrong with them, measuring tells.
    """
    rules = tuple(control.rule for control in profile.controls if isinstance(control, AuditRule))
    machine = NOWHERE.likely_target(rules)
    loaded, faults = translate_all(rules, machine)
    if not loaded or faults:
        return {}
    constants = Constants.of_debian()
    try:
        return expected(loaded, constants, _findings(rules, machine, constants))
    except (DuplicateError, UnresolvedError):
        return {}


def _findings(rules: Sequence[Rule], machine: Target, constants: Constants) -> dict[str, list[str]]:
    """Return the codes of what lint finds in the rules, by their place."""
    readings = [
        Reading(Kind.RULE, rule.place, rule.text, rule=rule) for rule in rules if rule.place
    ]
    found: defaultdict[str, list[str]] = defaultdict(list)
    for finding in lint(gather([readings], (), Options(constants=constants), machine)):
        place = f"{finding.spot.file}:{finding.spot.line}"
        if finding.code not in found[place]:
            found[place].append(finding.code)
    return found
