from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.cost.constants import Constants
from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "high-volume"


@pytest.mark.parametrize(
    "fields",
    [
        "-S read,write",
        "-S futex -F auid>=1000 -F auid!=unset",
        "-S open -F success=1 -F auid>=1000",
        "-S openat",
        "-S mmap -F uid=0",
        "-S read -F exit>=0",
    ],
)
def test_calls_that_programs_make_all_the_time_are_found(
    lint: Lint, constants: Constants, fields: str
) -> None:
    (found,) = lint(CODE, f"-a always,exit -F arch=b64 {fields} -k x")
    assert found.spot.column == 28
    if "uid=0" not in fields:  # the price is an ordinary user's
        assert found.cost is not None
        assert found.cost.instructions > constants.walk["record"]


@pytest.mark.parametrize(
    "fields",
    [
        "-S open -F exit=-EACCES",
        "-S open -F success=0",
        "-S read -F dir=/srv",
        "-S read -F exe=/bin/cat",
        "-S read -F a0=0",
        "-S read -F auid=1000",
        "-S execve",
        "-S mount,unlink",
        "-S all",
    ],
)
def test_what_is_narrow_or_rare_is_none(lint: Lint, fields: str) -> None:
    assert not lint(CODE, f"-a always,exit -F arch=b64 {fields} -k x")


def test_not_to_record_such_calls_is_none(lint: Lint) -> None:
    assert not lint(CODE, "-a never,exit -F arch=b64 -S read")


def test_what_a_record_costs_is_not_known_where_others_decide_about_it(lint: Lint) -> None:
    others = (
        "-a always,exclude -F msgtype=PROCTITLE",
        "-a never,task -F auid=1000",
        "-a never,filesystem -F fstype!=tracefs",
    )
    for other in others:
        (found,) = lint(CODE, "-a always,exit -F arch=b64 -S openat -k x", other)
        assert found.cost is None, other
