"""What is known of a profile's audit rules before a bill is measured: predicted costs, lint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.analysis.predicted import expected
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.rule import RuleSet
from hardcost.auditrules.semantics import DuplicateError, UnresolvedError
from hardcost.auditrules.translate import translate_all
from hardcost.cli.rules.common import target
from hardcost.controls.control import AuditRule

if TYPE_CHECKING:
    from hardcost.analysis.predicted import Expected
    from hardcost.controls.control import Profile


def of_profile(profile: Profile) -> dict[str, Expected]:
    """Return what is expected of each audit rule of a profile, by its place.

    Nothing is expected of rules that the kernel would refuse, or that name users whose numbers only
    the guest knows: what is wrong with them, measuring tells.
    """
    rules = tuple(control.rule for control in profile.controls if isinstance(control, AuditRule))
    loaded, faults = translate_all(rules, target(RuleSet(rules), None, None))
    if not loaded or faults:
        return {}
    try:
        return expected(loaded, Constants.of_debian(), {})
    except (DuplicateError, UnresolvedError):
        return {}
