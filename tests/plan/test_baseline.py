from __future__ import annotations

import pytest

from hardcost.auditrules.rule import Rule
from hardcost.controls.control import (
    AuditDaemon,
    AuditRule,
    Control,
    Kernel,
    KernelOption,
    Lsm,
    Profile,
    Sysctl,
)
from hardcost.design.compared import compared_with

RULES = (AuditDaemon(), AuditRule(Rule("-a never,task")))
RESTRICT = Sysctl("kernel.x", "1")


@pytest.mark.parametrize(
    ("controls", "said"),
    [
        (RULES, "audit on, no rules"),
        ((*RULES, RESTRICT), "audit on, no rules, none of the other controls"),
        ((RESTRICT,), "none of the controls"),
        ((Lsm("enforcing"),), "no security module"),
        ((Kernel(), KernelOption("A", "y")), "kernel lean, none of the options"),
        ((Kernel("debian:6.12", shipped=True),), "kernel debian:6.12"),
    ],
)
def test_the_baseline_is_named(controls: tuple[Control, ...], said: str) -> None:
    assert compared_with(Profile("p", "", "", controls)) == said
