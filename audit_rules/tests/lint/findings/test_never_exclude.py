from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "never-exclude"


@pytest.mark.parametrize("names", ["-F msgtype>0", "-F msgtype=SYSCALL -F uid=0", "-F auid=unset"])
@pytest.mark.parametrize("first", [True, False])
def test_an_exception_from_a_filter_is_found(lint: Lint, names: str, *, first: bool) -> None:
    kept, dropped = "-a never,exclude -F msgtype=SYSCALL", f"-a always,exclude {names}"
    lines = (kept, dropped) if first else (dropped, kept)
    (found,) = lint(CODE, *lines)
    assert (found.spot.line, found.related[0].line) == ((1, 2) if first else (2, 1))


@pytest.mark.parametrize(
    "other",
    [
        "-a always,exclude -F msgtype=CWD",
        "-a never,exclude -F msgtype>0",
        "-a always,exclude",
        "-a always,exclude -F msgtype=SYSCALL -F exe=/b",
    ],
)
def test_filters_that_name_other_records_or_that_all_say_never_are_none(
    lint: Lint, other: str
) -> None:
    assert not lint(CODE, "-a never,exclude -F msgtype=SYSCALL -F exe=/a", other)
