from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.cost.constants import Constants
from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "twin-missing"


B64 = "-a always,exit -F arch=b64 -S mount,umount2 -F auid>=1000 -k export"
B32 = B64.replace("b64", "b32")


def test_a_rule_for_one_abi_lacks_its_twin(lint: Lint, constants: Constants) -> None:
    (found,) = lint(CODE, B64)
    assert (found.spot.line, found.spot.column) == (1, 19)
    assert "b32 is missing: no rule records mount and umount2 there" in found.message
    assert found.cost is not None
    assert found.cost.instructions == constants.walk["unnamed"]
    (found,) = lint(CODE, B32)
    assert "b64 is missing" in found.message


def test_what_the_twin_leaves_out_is_named(lint: Lint) -> None:
    found = lint(CODE, B64, B32.replace("mount,umount2", "mount"))
    assert [one.spot.line for one in found] == [1]
    assert "records umount2 there" in found[0].message


@pytest.mark.parametrize(
    "others",
    [
        [B32],
        [B32.replace("-k export", "-k other")],
        [B32.replace("mount,umount2", "mount"), B32.replace("mount,umount2", "umount2")],
        ["-a always,exit -F arch=b32 -S mount -F auid>=500 -k x", B32.replace("mount,", "")],
    ],
)
def test_a_twin_may_have_another_key_be_several_rules_or_be_wider(
    lint: Lint, others: list[str]
) -> None:
    assert not any(one.spot.line == 1 for one in lint(CODE, B64, *others))


def test_calls_that_the_other_abi_lacks_need_no_twin(lint: Lint) -> None:
    assert not lint(CODE, "-a always,exit -F arch=b32 -S umount,stime -k x")
    assert not lint(CODE, "-a always,exit -F arch=b64 -S accept -k x")


def test_a_rule_without_arch_is_twin_to_both_where_it_names_all_calls(lint: Lint) -> None:
    assert not lint(CODE, B64, "-a always,exit -S all -F auid>=1000 -k x")


def test_nothing_is_missed_where_no_program_makes_32_bit_calls(lint: Lint) -> None:
    assert not lint(CODE, B64, b32=False)
    assert lint(CODE, B32, b32=False)


def test_watching_one_abi_as_such_and_not_recording_need_no_twin(lint: Lint) -> None:
    assert not lint(CODE, "-a always,exit -F arch=b32 -S all -k 32bit-abi")
    assert not lint(CODE, "-a never,exit -F arch=b64 -S adjtimex -F auid=unset")
    assert not lint(CODE, "-w /etc/shadow -p wa -k x")
