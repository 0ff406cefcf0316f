"""The quick walks of the optimiser cost what the model of the kernel's walk costs."""

from __future__ import annotations

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate
from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.cost.predict import predict, price_walk
from auditrules.kernel.semantics import decide
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.rule import Rule
from auditrules.optimize.meeting import orders_to_keep
from auditrules.optimize.prices import Prices

CONSTANTS = Constants.of_debian()
LINES = (
    "-a always,exit -F arch=b64 -S openat -F ppid!=7 -F auid>=1000 -F auid!=unset -k opened",
    "-a never,exit -F arch=b64 -S openat,unlink -F ppid=1",
    "-a always,exit -F arch=b32 -S unlink -F uid=0 -k gone",
    "-a always,exit -S chmod -F obj_uid!=1000",
    "-a always,exit -F dir=/nowhere -F perm=wa -k tree",
    "-a always,exit -F path=/etc/passwd -F perm=wa -k identity",
    "-a always,exit -F path=/etc/shadow -F ppid=1",
    "-a always,exit -S execve -F inode!=1000",
    "-A always,exit -S rename -F success=1 -k renamed",
)
OTHERS = ("-a always,exclude -F msgtype=SYSCALL -F uid=0", "-a never,filesystem -F fstype=0x137d")
MANY_FILES = tuple(f"-a always,exit -F path=/srv/{n} -F perm=x" for n in range(40))


def rules(lines: tuple[str, ...]) -> list[KernelRule]:
    return [translate(Rule(line), AS_WRITTEN) for line in lines]


@pytest.mark.parametrize("more", [(), OTHERS, MANY_FILES, (*OTHERS, *MANY_FILES)])
def test_each_call_pays_what_the_walk_of_all_rules_costs(more: tuple[str, ...]) -> None:
    prices = Prices(CONSTANTS, general())
    under = prices.set_costs(rules((*LINES, *more)))
    decided = set()
    for case in (*prices.typical, *prices.failing):
        event = case.event
        assert under.walk(event, case.kind).cost == price_walk(CONSTANTS, under.loaded, event).cost
        assert under.decided_by(event, case.kind) == decide(under.loaded, event).decided_by
        decided.add(under.decided_by(event, case.kind))
        whole = predict(CONSTANTS, under.loaded, event)
        walked = price_walk(CONSTANTS, under.loaded, event).cost
        assert under.cost(event, case.kind) == walked + whole.recording
    assert len(decided) > 3


def test_rules_keep_their_order_if_one_call_may_match_both_with_another_result() -> None:
    lines = (
        "-a always,exit -F arch=b64 -S open -F auid>=1000 -k one",
        "-a always,exit -F arch=b64 -S open,chmod -F auid=5 -k two",  # other users than 0
        "-a always,exit -F arch=b64 -S open -F auid=2000 -k one",  # like 0; not like 1
        "-a never,exit -F arch=b64 -S open",
        "-a never,exit -F arch=b32 -S open",
        "-a always,exit -S open -F auid=3 -F auid=4",  # meets nothing
    )
    found = orders_to_keep(dict(enumerate(rules(lines))), b32=True)
    assert found == {0: 0, 1: 0, 2: 0, 3: 0b111, 4: 0, 5: 0}
