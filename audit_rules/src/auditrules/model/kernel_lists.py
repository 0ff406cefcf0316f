"""The rules that the kernel holds, and their order, as rules are added and deleted one by one.

Two rules are the same if `audit_compare_rule` says so (AF:707): list, action, calls, fields in
their order, and key. The kernel refuses to append a rule that it already holds (EEXIST). It accepts
a prepended one any number of times, since it compares a flag that rules in its lists have lost
(AF:712).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace

from auditrules.model.kernel_rule import WATCH, FieldTest, KernelRule, is_test

_KINDS = frozenset({"path", "dir", WATCH})


class DuplicateError(ValueError):
    """A rule is the same as an earlier one, so the kernel refuses it (EEXIST)."""

    def __init__(self, rule: KernelRule, earlier: KernelRule) -> None:
        super().__init__("the rule exists")
        self.rule, self.earlier = rule, earlier


class Present:
    """The rules that the kernel holds, each identified by a number from the caller.

    Each method takes constant time.
    """

    def __init__(self) -> None:
        self._same: defaultdict[Hashable, dict[int, None]] = defaultdict(dict)
        """The rules that are the same, in the order of adding.

        An appended one is the first, since it is refused if there is another; so the kernel walks
        the last one first."""
        self._alike: defaultdict[Hashable, dict[Hashable, None]] = defaultdict(dict)
        """The `sameness` of rules that could be the same, depending on the watched path."""

    def add(self, rule: KernelRule, number: int) -> int | None:
        """Add a rule; if the kernel refuses it, return the number of the first that is the same.

        None: the kernel accepts it.
        """
        same = self._same[rule.sameness]
        if same and not rule.prepend:
            return next(iter(same))
        same[number] = None
        if _watches(rule):
            self._alike[_with_unknown_kind(rule)][rule.sameness] = None
        return None

    def find(self, rule: KernelRule) -> int | None:
        """Return the number of the rule that the kernel deletes for this one, None if it has none.

        Of several that are the same, it is the one in front: the last that was prepended.
        """
        same = self._same[rule.sameness]
        return next(reversed(same)) if same else None

    def maybe(self, rule: KernelRule) -> int | None:
        """Return the first rule that would be the same if both watches were of one kind."""
        if not _watches(rule):
            return None
        alike = (self._same[one] for one in self._alike[_with_unknown_kind(rule)])
        return min((next(iter(same)) for same in alike if same), default=None)

    def remove(self, rule: KernelRule, number: int) -> None:
        """Remove the rule that was added under this number."""
        del self._same[rule.sameness][number]


def accepted_rules(rules: Iterable[KernelRule]) -> tuple[int, ...]:
    """Return the indices of the rules that the kernel accepts, added in this order."""
    present = Present()
    return tuple(index for index, rule in enumerate(rules) if present.add(rule, index) is None)


def check_distinct(rules: Sequence[KernelRule]) -> None:
    """Check that no rule repeats an earlier one.

    Raises:
        DuplicateError: One does, so the kernel refuses it; the error has both.
    """
    present = Present()
    for index, rule in enumerate(rules):
        earlier = present.add(rule, index)
        if earlier is not None:
            raise DuplicateError(rule, rules[earlier])


def by_rank(rules: Iterable[KernelRule]) -> tuple[int, ...]:
    """Return the indices of rules in the order in which the kernel walks those of one list.

    Prepended rules come first, the last of them in front.
    """
    first: list[int] = []
    last: list[int] = []
    for index, rule in enumerate(rules):
        (first if rule.prepend else last).append(index)
    return (*reversed(first), *last)


def _watches(rule: KernelRule) -> bool:
    """Say whether a watch could be the same rule."""
    return rule.path is not None or rule.directory is not None or rule.watch is not None


def _with_unknown_kind(rule: KernelRule) -> Hashable:
    """Return the part of a rule that the kernel compares, if its path's kind is unknown."""
    unknown = tuple(
        FieldTest(WATCH, test.operator, test.value) if is_test(test, *_KINDS) else test
        for test in rule.conditions
    )
    return replace(rule, conditions=unknown).sameness
