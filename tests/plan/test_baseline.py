from __future__ import annotations

import pytest

from auditrules.model.rule import Rule
from hardcost.controls.control import Control, Profile
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.plan.baseline import baseline_in_words

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
    assert baseline_in_words(Profile("p", "", "", controls)) == said
