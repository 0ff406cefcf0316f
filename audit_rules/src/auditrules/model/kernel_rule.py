"""A rule as the kernel holds it: auditctl's translation of a line, with numbers for names.

Constants are those of linux/audit.h, behaviour that of Linux 6.1 (`kernel/auditfilter.c`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TypeGuard

from auditrules.model.rule import Rule

CALLS = 2032
"""Calls have the numbers 0 to 2031 in a rule's mask; the bits above represent classes."""

ALL_CALLS = (1 << CALLS) - 1
"""The mask of `-S all`."""

UNSET = 0xFFFFFFFF
"""A user, group or session that is not set."""

READ, WRITE, EXECUTE, ATTRIBUTES = 4, 2, 1, 8
"""The bits of a permission: r, w, x, a (AUDIT_PERM_…)."""

PERMISSIONS: Mapping[str, int] = MappingProxyType(
    {"r": READ, "w": WRITE, "x": EXECUTE, "a": ATTRIBUTES}
)
"""The letters of permissions, in the order in which they are written."""

KEY_SEPARATOR = "\x01"
"""The separator between several keys of a rule."""


WATCH = "watch"
"""The field of a watch (`-w`) whose path may or may not be a directory.

auditctl asks the file system and makes it `dir` for a directory, else `path`."""


class FilterList(StrEnum):
    """The list that a rule is in, which determines when it is tried."""

    EXIT = "exit"
    """When a system call returns: in the exit list, or in an inode's bucket."""
    TASK = "task"
    """When a task is created."""
    USER = "user"
    """When a program sends a record of its own."""
    EXCLUDE = "exclude"
    """When a record is to be written."""
    FILESYSTEM = "filesystem"
    """When a call visits a file."""
    IO_URING = "io_uring"
    """When an io_uring operation ends; auditctl knows it from 3.1 on."""


class Action(StrEnum):
    """The decision of a rule."""

    ALWAYS = "always"
    NEVER = "never"


class Operator(StrEnum):
    """How a field is compared; all as unsigned numbers of 32 bits (`audit_comparator`)."""

    EQUAL = "="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    ANY_BIT = "&"
    """Any bit of the value is set."""
    ALL_BITS = "&="
    """All bits of the value are set."""


@dataclass(frozen=True)
class FieldTest:
    """A field compared with a value (-F), in auditctl's own name for the field.

    `value` is a number of 32 bits as the kernel holds it, or the text of a path, a label, or a user
    or group that only the target can resolve. `auid` with the value unset is the kernel's own field
    `loginuid_set` with the value 0. `WATCH` stands for `path` or `dir`; only the target knows.
    """

    field: str
    operator: Operator
    value: int | str

    __test__ = False  # not pytest's


@dataclass(frozen=True)
class IdComparison:
    """Two ids compared (-C), `=` or `!=`, in the order of the kernel's constants (UID_TO_AUID)."""

    left: str
    operator: Operator
    right: str


Condition = FieldTest | IdComparison


def is_test(condition: Condition, *fields: str) -> TypeGuard[FieldTest]:
    """Say whether a condition tests one of some fields."""
    return isinstance(condition, FieldTest) and condition.field in fields


def letters(permissions: int) -> str:
    """Return the letters of permissions, such as `rw`."""
    return "".join(letter for letter, bit in PERMISSIONS.items() if permissions & bit)


@lru_cache(maxsize=8192)
def bits(mask: int) -> tuple[int, ...]:
    """Return the bits of a mask by number, lowest first: of a rule's mask, its calls."""
    return tuple(at for at, bit in enumerate(reversed(f"{mask:b}")) if bit == "1")


def mask_of(numbers: Iterable[int]) -> int:
    """Return the mask that has some bits."""
    mask = 0
    for number in numbers:
        mask |= 1 << number
    return mask


@dataclass(frozen=True)
class KernelRule:
    """A rule as the kernel holds it.

    `mask` has the bit `1 << number` for each call that the rule names, classes expanded.
    `conditions` are in the order of testing. `key` is the key, which auditctl appends as the last
    field; several are joined by `KEY_SEPARATOR`. `source` is the rule's line, which equality
    ignores.
    """

    list: FilterList
    action: Action
    mask: int
    conditions: tuple[Condition, ...]
    key: str = ""
    prepend: bool = False
    source: Rule | None = field(default=None, compare=False)

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        """Return the state without the hash, which differs from process to process."""
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    @cached_property
    def _hash(self) -> int:
        own = (self.list, self.action, self.mask, self.conditions, self.key, self.prepend)
        return hash(own)

    def names(self, call: int) -> bool:
        """Say whether the mask holds the number (`audit_in_mask`); above 2047 none does."""
        return bool(self.mask >> call & 1)

    def tests(self, *fields: str) -> tuple[FieldTest, ...]:
        """Return the tests of some fields, in order."""
        return tuple(test for test in self.conditions if is_test(test, *fields))

    @cached_property
    def path(self) -> str | None:
        """The file that the rule watches by path (AUDIT_WATCH), if any."""
        return self._text("path")

    @cached_property
    def directory(self) -> str | None:
        """The directory whose tree the rule watches (AUDIT_DIR), if any."""
        return self._text("dir")

    @cached_property
    def watch(self) -> str | None:
        """The path of a watch that may be a file's or a tree's (`WATCH`), if any."""
        return self._text(WATCH)

    @cached_property
    def inode(self) -> int | None:
        """The inode number for whose bucket the rule is meant (`inode=`), if any."""
        for test in self.tests("inode")[:1]:
            if test.operator is Operator.EQUAL and isinstance(test.value, int):
                return test.value
        return None

    @property
    def sameness(self) -> Hashable:
        """The values by which the kernel compares two rules (`audit_compare_rule`, AF:707)."""
        return (self.list, self.action, self.mask, self.conditions, self.key)

    @cached_property
    def in_a_bucket(self) -> bool:
        """Whether it is in an inode's bucket, not in the list that every call walks.

        A watch of unknown kind may be in either; it counts as not in a bucket.
        """
        return self.list in {FilterList.EXIT, FilterList.IO_URING} and (
            self.path is not None or self.inode is not None
        )

    @property
    def place(self) -> str:
        """Where the kernel puts it: rules of one place are walked one after the other.

        Two watches of unknown kind are certainly in one place only if they watch one path.
        """
        if self.watch is not None:
            return f"wherever {self.watch} belongs"
        return "bucket" if self.in_a_bucket else "list"

    def with_kind(self, *, directory: bool) -> KernelRule:
        """Return a watch of unknown kind as a rule of one kind, other rules as they are."""
        if self.watch is None:
            return self
        field = "dir" if directory else "path"
        conditions = tuple(
            replace(test, field=field) if is_test(test, WATCH) else test for test in self.conditions
        )
        return replace(self, conditions=conditions)

    def _text(self, name: str) -> str | None:
        return next((test.value for test in self.tests(name) if isinstance(test.value, str)), None)
