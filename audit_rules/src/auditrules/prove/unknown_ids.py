"""Users and groups whose numbers only the target knows, and numbers in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from auditrules.model.kernel_rule import FieldTest, KernelRule

NamedId = tuple[str, str]
"""`user` or `group`, and the name."""

_FIRST = 60001


def named_id(test: FieldTest) -> NamedId | None:
    """Return whose number a test needs; None if it has all numbers that it needs."""
    if isinstance(test.value, int) or not test.field.endswith(("uid", "gid")):
        return None
    return "group" if test.field.endswith("gid") else "user", test.value


def names(rules: Sequence[KernelRule]) -> Iterator[NamedId]:
    """Yield the users and groups that rules name and that were not resolved."""
    for rule in rules:
        for condition in rule.conditions:
            found = named_id(condition) if isinstance(condition, FieldTest) else None
            if found is not None:
                yield found


def numbers_for(rules: Sequence[KernelRule], known: Mapping[NamedId, int]) -> dict[NamedId, int]:
    """Return a number for every name in the rules: the known one, or another for each."""
    found = dict(known)
    for name in names(rules):
        found.setdefault(name, _FIRST + len(found))
    return found


def resolve_ids(
    rules: Sequence[KernelRule], numbers: Mapping[NamedId, int]
) -> tuple[KernelRule, ...]:
    """Return rules with numbers instead of names; `numbers` has all of them."""

    def test_of(test: FieldTest) -> FieldTest:
        name = named_id(test)
        return test if name is None else replace(test, value=numbers[name])

    return tuple(
        replace(
            rule,
            conditions=tuple(
                test_of(condition) if isinstance(condition, FieldTest) else condition
                for condition in rule.conditions
            ),
        )
        for rule in rules
    )


def numbers_by_name(numbers: Mapping[NamedId, int]) -> dict[str, int]:
    """Return numbers by the shown form of a name, such as `user nobody`."""
    return {f"{what} {name}": number for (what, name), number in numbers.items()}
