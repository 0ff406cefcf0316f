"""What having any audit rule costs, whichever it is: the trials that measure it.

As soon as one rule is there, the kernel collects what each call does, and walks the exit list as
the call returns. That is paid once. It is what one idle rule adds, less what a second one adds,
which pays for itself alone. Both name a call that nobody makes. They are measured in the company of
the profile's other controls, as its items are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.rule import Rule, split_options, split_words
from hardcost.controls.control import AuditRule, comparable
from hardcost.design.plan import Configuration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.controls.control import Control

NONE, ONE, TWO = (f"idle-rules:{number}" for number in range(3))
"""The configurations: the controls without rules that are paid for; one idle rule; two."""

# No process has these numbers: the kernel's PID_MAX_LIMIT and the next one.
_IDLE = tuple(
    AuditRule(Rule(f"-a always,exit -F arch=b64 -S swapon -F pid={4194304 + number}"))
    for number in range(2)
)


def paid_for(controls: Sequence[Control]) -> tuple[int, ...]:
    """Return the indices of the rules for whose sake the kernel collects what calls do.

    They are those on `exit`, watches among them, on `io_uring`, and `always` ones on `task`. A
    `never` rule on `task` saves the price.
    """
    return tuple(
        index
        for index, one in enumerate(controls)
        if isinstance(one, AuditRule) and _is_paid_for(_list_and_action(one.rule))
    )


def configurations(controls: Sequence[Control]) -> tuple[Configuration, ...]:
    """Return what is measured beside a profile's `controls`; () if no rule is on the exit list."""
    paid = paid_for(controls)
    if not any("exit" in _list_and_action(controls[at].rule) for at in paid):  # type: ignore[union-attr]  # rules
        return ()
    others = comparable([one for at, one in enumerate(controls) if at not in paid], controls)
    return tuple(
        Configuration(name, (*others, *_IDLE[:number]))
        for number, name in enumerate((NONE, ONE, TWO))
    )


def is_idle(configuration: str) -> bool:
    """Say whether a configuration is one of these."""
    return configuration in {NONE, ONE, TWO}


def _is_paid_for(words: frozenset[str]) -> bool:
    return bool(words & {"exit", "io_uring"}) or {"task", "always"} <= words


def _list_and_action(rule: Rule) -> frozenset[str]:
    """Return the words of a rule's list and action; a watch is on the exit list."""
    options, _ = split_options(split_words(rule.text))
    found = [value for option, value in options if option in {"-a", "-A"}]
    return frozenset(found[0].split(",")) if found else frozenset({"always", "exit"})
