from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "positive-errno"
RULE = "-a always,exit -F arch=b64 -S openat -F {} -k x"


@pytest.mark.parametrize(
    ("field", "compared", "meaning", "remedy"),
    [
        (
            "exit=EPERM",
            "compares with +1, but a call that fails with EPERM returns -1",
            "it can only fire on a call that succeeds and returns 1",
            "write exit=-EPERM",
        ),
        (
            "exit!=EACCES",
            "compares with +13, but a call that fails with EACCES returns -13",
            "it does not test whether the call failed with that error",
            "write exit!=-EACCES",
        ),
        (
            "exit>eperm",
            "compares with +1, but a call that fails with eperm returns -1",
            "it does not test whether the call failed with that error",
            "write exit=-eperm",
        ),
    ],
)
def test_an_error_without_a_minus_is_found(
    lint: Lint, field: str, compared: str, meaning: str, remedy: str
) -> None:
    (found,) = lint(CODE, RULE.format(field))
    assert (found.spot.line, found.spot.column, found.level) == (1, 41, "warning")
    assert (found.message, found.remedy) == (f"{field} {compared}: {meaning}", remedy)


def test_rules_that_record_nothing_and_glued_options_are_looked_at_too(lint: Lint) -> None:
    assert lint(CODE, "-a never,exit -F arch=b64 -S openat -Fexit=EACCES")


@pytest.mark.parametrize("field", ["exit=-EPERM", "exit=1", "exit=-1", "exit>0", "success=0"])
def test_negative_errors_and_numbers_are_not_found(lint: Lint, field: str) -> None:
    assert not lint(CODE, RULE.format(field))


def test_an_error_s_name_elsewhere_is_not_found(lint: Lint) -> None:
    assert not lint(CODE, "-a always,exit -F arch=b64 -S openat -F exit=-EPERM -F key=exit=EPERM")
    assert not lint(CODE, "-w /etc/EPERM -p wa -k EPERM")
