"""Whether rules load on a machine whose file system can be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import WATCH, Test

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.kernelrule import KernelRule
    from hardcost.auditrules.root import Root


@dataclass(frozen=True)
class Missing:
    """A path that a rule names and at which nothing lies.

    `refused` is what has to exist for the kernel to take the rule, None where it takes it: it waits
    for a file to be made as long as its folder is there, and for a tree it does not.
    """

    rule: KernelRule
    test: Test
    refused: str | None


def missing_paths(rules: Iterable[KernelRule], root: Root) -> tuple[Missing, ...]:
    """Return what is missing, rule by rule."""
    return tuple(
        Missing(rule, test, _refused(root, test))
        for rule in rules
        for test in rule.conditions
        if isinstance(test, Test)
        and test.field in {"path", "dir", "exe", WATCH}
        and root.lacks(str(test.value))
    )


def _refused(root: Root, test: Test) -> str | None:
    """Return what has to exist and does not."""
    path = str(test.value)
    if test.field == "dir":
        return path
    folder = path.rpartition("/")[0] or "/"
    return folder if root.lacks(folder) or root.is_other(folder) else None
