"""Whether rules load on a machine whose file system is accessible."""

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
    """A path in a rule that does not exist.

    `refused` is the path that must exist for the kernel to accept the rule, None if it accepts it:
    a watch waits for a file in an existing folder, but a tree must exist.
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
