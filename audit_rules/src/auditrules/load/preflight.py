"""Whether rules load on a machine whose file system is accessible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from auditrules.load.root import Root
from auditrules.model.kernel_rule import WATCH, FieldTest, KernelRule


@dataclass(frozen=True)
class MissingPath:
    """A path in a rule that does not exist.

    `refused` is the path that must exist for the kernel to accept the rule, None if it accepts it:
    a watch waits for a file in an existing folder, but a tree must exist.
    """

    rule: KernelRule
    test: FieldTest
    refused: str | None


def missing_paths(rules: Iterable[KernelRule], root: Root) -> tuple[MissingPath, ...]:
    """Return the missing paths, rule by rule."""
    return tuple(
        MissingPath(rule, test, _missing_part(root, test))
        for rule in rules
        for test in rule.conditions
        if isinstance(test, FieldTest)
        and test.field in {"path", "dir", "exe", WATCH}
        and root.lacks(str(test.value))
    )


def _missing_part(root: Root, test: FieldTest) -> str | None:
    """Return the part of a path that has to exist and does not."""
    path = str(test.value)
    if test.field == "dir":
        return path
    folder = path.rpartition("/")[0] or "/"
    return folder if root.lacks(folder) or root.is_other(folder) else None
