"""Which costs are not predicted, and why: those that lists beside the exit list decide about."""

from __future__ import annotations

from auditrules.kernel import field_tests, semantics
from auditrules.kernel.event import Event
from auditrules.kernel.semantics import Loaded
from auditrules.model.kernel_rule import Action, FieldTest, FilterList, KernelRule, Operator
from auditrules.tables import lookup


def unpriced_rules(loaded: Loaded) -> tuple[int, ...]:
    """Return the rules (by index) whose cost, or effect on cost, is not predicted.

    `always,task` records everything; a rule on `task` with conditions decides for each new task;
    one on `exclude` is tried on each record.
    """
    of_tasks = tuple(
        index
        for index in loaded.lists[FilterList.TASK]
        if loaded.rules[index].conditions or loaded.rules[index].action is Action.ALWAYS
    )
    return (*of_tasks, *loaded.lists[FilterList.EXCLUDE])


def unpredicted_reason(loaded: Loaded, event: Event, *, requested: bool) -> str:
    """Return why a call's cost is not predicted; nothing where it is.

    `requested`: its records are to be written, if no rule of the list `exclude` drops them.
    """
    if requested and loaded.lists[FilterList.EXCLUDE]:
        return "rules of the list exclude decide about its records"
    if semantics.may_decide_of_task(loaded, event):
        return "the list task decides by who made the process"
    hiding = (loaded.rules[index] for index in loaded.lists[FilterList.FILESYSTEM])
    if any(_may_hide(rule, event) for rule in hiding):
        return "a rule of the list filesystem may hide its files"
    return ""


def _may_hide(rule: KernelRule, event: Event) -> bool:
    """Say whether a rule hides a file of the call, or may hide one of an unknown file system.

    Ordinary files are known to lie on neither tracefs nor debugfs.
    """
    unusual = lookup.FILE_SYSTEMS.values()
    for test in rule.conditions if rule.action is Action.NEVER else ():
        if not isinstance(test, FieldTest) or test.field != "fstype":
            continue
        elsewhere = test.operator is Operator.EQUAL and test.value in unusual
        for name in event.names:
            known = name.filesystem or elsewhere
            if not known or field_tests.compare(
                name.filesystem, test.operator, field_tests.number(test)
            ):
                return True
    return False
