from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.cost.constants import Constants
from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "auid-not-tested"


@pytest.mark.parametrize(
    "fields", ["-S unlink,rename", "-S open -F exit=-EACCES", "-S chmod -F success=1"]
)
def test_work_with_files_by_everybody_is_found(lint: Lint, fields: str) -> None:
    (found,) = lint(CODE, f"-a always,exit -F arch=b64 {fields} -k x")
    assert found.message.startswith("it does not test auid, so every daemon's ")
    assert found.spot.column == 28


def test_the_price_is_that_of_a_record_where_a_successful_call_makes_one(
    lint: Lint, constants: Constants
) -> None:
    (found,) = lint(CODE, "-a always,exit -F arch=b64 -S unlink -k x")
    assert found.cost is not None
    assert found.cost.instructions > constants.walk["record"]
    (failing,) = lint(CODE, "-a always,exit -F arch=b64 -S unlink -F exit=-EACCES -k x")
    assert failing.cost is None


@pytest.mark.parametrize(
    "fields",
    [
        "-S unlink -F auid>=1000 -F auid!=unset",
        "-S unlink -F uid=0",
        "-S unlink -F dir=/home",
        "-S unlink -F exe=/bin/rm",
        "-S unlink -C auid!=obj_uid",
        "-S settimeofday,adjtimex",
        "-S init_module",
        "-S all",
    ],
)
def test_who_or_where_or_calls_that_no_daemon_makes_all_day_are_none(
    lint: Lint, fields: str
) -> None:
    assert not lint(CODE, f"-a always,exit -F arch=b64 {fields} -k x")
