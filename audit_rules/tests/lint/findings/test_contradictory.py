from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.cost.constants import Constants
from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "contradictory"


@pytest.mark.parametrize(
    "fields",
    [
        "-S open -F auid<1000 -F auid>=1000",
        "-S open -F auid=unset -F auid!=unset",
        "-S open -F auid=unset -F auid=1000",
        "-S open -F uid=0 -F uid=1",
        "-S open -F uid=0 -F uid!=0",
        "-S open -F a0>4294967295",
        "-S open -F exit=-EACCES -F exit=-EPERM",
        "-S open -F success=1 -F success=0",
        "-S open -F success=1 -F exit=-EACCES",
        "-C uid!=euid -C uid=euid -S execve",
        "-S open -F uid=joe -F uid!=joe",
        "-S open -F subj_type=a_t -F subj_type=b_t",
        "-S open -F perm=x",
        "-S execve -F perm=wa",
        "-S chmod -F perm=r",
        "-F perm=x -F perm=wa",
    ],
)
def test_conditions_that_cant_all_hold_are_found(lint: Lint, fields: str) -> None:
    (found,) = lint(CODE, f"-a always,exit -F arch=b64 {fields} -k x")
    assert found.message.startswith("it never fires: ")


@pytest.mark.parametrize(
    "fields",
    [
        "-S open -F auid>=1000 -F auid!=unset",
        "-S open -F auid>=1000 -F auid=unset",  # unset is the largest number
        "-S open -F uid=joe -F uid=jim",  # may be two names of one user
        "-S open -F gid=1 -F gid=2",  # supplementary groups count as well
        "-S open -F obj_uid=1 -F obj_uid=2",  # a call visits several files
        "-S lseek -F success=1 -F exit=-EACCES",  # the low bits of a large offset
        "-S open -F perm=r",
        "-S openat -F perm=wa",
        "-S link -F perm=a -F perm=w",
        "-S execve -F perm=x",
        "-S open -F a2&03 -F a2&04",
        "-S open -F exit>=0 -F success=1",
        "-C uid!=euid -C gid=egid -S execve",
    ],
)
def test_conditions_that_may_hold_together_are_none(lint: Lint, fields: str) -> None:
    assert not lint(CODE, f"-a always,exit -F arch=b64 {fields} -k x")


def test_one_file_has_one_owner_where_the_rule_is_asked_of_that_file(lint: Lint) -> None:
    assert lint(CODE, "-a always,exit -F path=/x -F obj_uid=1 -F obj_uid=2 -k x")


def test_the_rule_costs_what_passing_over_it_costs(lint: Lint, constants: Constants) -> None:
    (found,) = lint(CODE, "-a always,exit -F arch=b64 -S open -F uid=0 -F uid=1 -k x")
    assert found.cost is not None
    assert found.cost.instructions == constants.walk["unnamed"]
    (bucket,) = lint(CODE, "-a always,exit -F path=/x -F uid=0 -F uid=1 -k x")
    assert bucket.cost is None
