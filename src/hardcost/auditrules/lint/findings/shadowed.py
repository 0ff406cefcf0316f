"""Earlier rules decide wherever this rule would.

What: For each call that the rule names, the kernel first asks another rule that matches whenever
this one would: it has the same conditions, some of them, or wider ones. `-A` puts a rule before all
others. Rules on one path are not judged, since their order is not stable.

Why: The kernel stops at the first rule that matches, so this one never fires: neither its action
nor its key ever takes effect.

Example:
    -a always,exit -F arch=b64 -S openat -F auid>=1000 -k access
    -a always,exit -F arch=b64 -S openat -F auid>=1000 -F exit=-EACCES -k denied

Remedy: Put the narrower rule first, or delete it if the wider rule's key and action are enough.
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
    """Yield each rule that never decides because of others."""
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
