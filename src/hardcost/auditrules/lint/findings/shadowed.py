"""Earlier rules decide wherever a rule would.

What: For each call that the rule names there is a rule that is asked before it and matches whenever
this one would: its conditions are the same, or some of them, or wider ones. `-A` puts a rule before
all others. Rules on one path are not judged, as their order is not stable.

Why: The kernel stops at the first rule that matches, so that this one never fires: neither its
action nor its key is ever seen.

Example:
    -a always,exit -F arch=b64 -S openat -F auid>=1000 -k access
    -a always,exit -F arch=b64 -S openat -F auid>=1000 -F exit=-EACCES -k denied

Remedy: Put the narrower rule first, or delete it if the wider one's key and action will do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import ALL_CALLS, FilterList
from hardcost.auditrules.lint import masks, pricing
from hardcost.auditrules.lint.covering import Covering, Numbered
from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, spot_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.lint.context import Context

CODE = "shadowed"
LEVEL = Level.WARNING

_BY_CALL = frozenset({FilterList.EXIT, FilterList.IO_URING})
_FIRST_DECIDES = (FilterList.EXIT, FilterList.IO_URING, FilterList.TASK, FilterList.EXCLUDE)
_NAMED = 3


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that others keep from ever deciding."""
    for name in _FIRST_DECIDES:
        rules = [rule for rule in context.by_rank if rule.list is name]
        covering = Covering(Numbered([rule.conditions for rule in rules]))
        for index, rule in enumerate(rules):
            mask = rule.mask if name in _BY_CALL else ALL_CALLS
            earlier = [rules[at] for at in covering.covering(index, mask)]
            if earlier:
                yield _finding(context, rule, earlier)
            elif rule.path is None:
                covering.add(index, mask)


def _finding(context: Context, rule: KernelRule, earlier: list[KernelRule]) -> Diagnostic:
    spots = tuple(spot_of(one.source) for one in earlier)
    together = masks.listed([str(spot) for spot in spots], _NAMED)
    decides = "decides" if len(spots) == 1 else "decide"
    return Diagnostic(
        CODE,
        LEVEL,
        f"it never fires: {together} {decides} first wherever it would match",
        spot_of(rule.source),
        rule.source.text if rule.source else "",
        "put it before the wider rule, or delete it",
        pricing.passing_over(context, rule),
        spots,
    )
