"""Earlier rules decide wherever this rule would.

What: For each call that the rule names, the kernel first asks another rule that matches whenever
this one would: it has the same conditions, some of them, or wider ones, or watches a directory
above the file. `-A` puts a rule before all others. A file is taken to lie in the directories of its
path, except behind links that most systems have, such as /var/run. Rules on one path are not
judged, since their order is not stable. On the list `user`, a rule with a key or a field that the
kernel does not test there ends the walk, and the record is written.

Why: The kernel stops at the first rule that matches, so this one never fires: neither its action
nor its key ever takes effect.

Example:
    -a always,exit -F arch=b64 -S openat -F auid>=1000 -k access
    -a always,exit -F arch=b64 -S openat -F auid>=1000 -F exit=-EACCES -k denied

Remedy: Put the narrower rule first, or delete it if the wider rule's key and action are enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from auditrules.auditctl.field_values import OF_A_RECORD, OF_A_TASK
from auditrules.lint import prices, wording
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.lint.supersets import Covering, Numbered
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    Condition,
    FieldTest,
    FilterList,
    KernelRule,
    Operator,
)
from auditrules.model.rule import plain_path

CODE = "shadowed"
LEVEL = Level.WARNING

_BY_CALL = frozenset({FilterList.EXIT, FilterList.IO_URING})
_OF_RECORDS = frozenset({FilterList.USER, FilterList.EXCLUDE})
_FIRST_DECIDES = (
    FilterList.EXIT,
    FilterList.IO_URING,
    FilterList.TASK,
    FilterList.USER,
    FilterList.EXCLUDE,
)
_LINKS = ("/var/run", "/var/lock", "/usr/tmp", "/bin", "/sbin", "/lib", "/lib64")
"""Names of directories that most systems have as links to directories elsewhere."""


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that never decides because of others."""
    for name in _FIRST_DECIDES:
        rules = [one for one in context.by_rank if one.list is name and _may_match(one)]
        own = [_until_the_end(rule) for rule in rules]
        # Behind the rules' conditions stand those that hold wherever the rules match.
        trees = _trees(rules)
        known = [(*one, *_in_trees(rule, trees)) for one, rule in zip(own, rules, strict=True)]
        covering = Covering(Numbered([*own, *known]))
        for index, rule in enumerate(rules):
            mask = rule.mask if name in _BY_CALL else ALL_CALLS
            earlier = [rules[at] for at in covering.covering_rules(len(rules) + index, mask)]
            if earlier:
                yield _diagnostic(context, rule, earlier)
            elif rule.path is None:
                covering.add(index, mask)


def _may_match(rule: KernelRule) -> bool:
    """Say whether a rule can match at all on its list (`no-effect` reports those that can't)."""
    if rule.list in _OF_RECORDS:
        return bool(rule.conditions)
    fields = {one.field for one in rule.conditions if isinstance(one, FieldTest)}
    return rule.list is not FilterList.TASK or fields <= OF_A_TASK


def _until_the_end(rule: KernelRule) -> tuple[Condition, ...]:
    """Return the conditions that a rule's end of the walk depends on (`audit_filter`, AF:1331)."""
    if rule.list is not FilterList.USER:
        return rule.conditions
    tested: list[Condition] = []
    for one in rule.conditions:
        if not isinstance(one, FieldTest) or one.field not in OF_A_RECORD:
            break
        tested.append(one)
    return tuple(tested)


def _trees(rules: Sequence[KernelRule]) -> Mapping[str, set[str]]:
    """Return the watched directories as rules write them, by their plain paths."""
    found: dict[str, set[str]] = {}
    for rule in rules:
        if rule.directory is not None:
            found.setdefault(plain_path(rule.directory), set()).add(rule.directory)
    return found


def _in_trees(rule: KernelRule, trees: Mapping[str, set[str]]) -> Iterator[Condition]:
    """Yield the conditions on directories that hold wherever a rule on a path below matches."""
    watched = rule.path or rule.directory
    if watched is None:
        return
    path = plain_path(watched)
    steps = path.rstrip("/").split("/")
    for length in range(1, len(steps) + 1):
        above = "/".join(steps[:length]) or "/"
        if any(_is_inside(path, link) and not _is_inside(above, link) for link in _LINKS):
            continue
        for written in sorted(trees.get(above, ())):
            yield FieldTest("dir", Operator.EQUAL, written)


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _diagnostic(context: Context, rule: KernelRule, earlier: list[KernelRule]) -> Diagnostic:
    first, spots = wording.deciding_words(earlier)
    return Diagnostic(
        CODE,
        LEVEL,
        f"it never fires: {first} wherever it would match",
        location_of(rule.source),
        rule.source.text if rule.source else "",
        "put it before the wider rule, or delete it",
        prices.cost_of_passing(context, rule),
        spots,
    )
