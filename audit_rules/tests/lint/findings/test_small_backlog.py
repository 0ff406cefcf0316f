from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "small-backlog"


WATCH = "-w /etc/shadow -p wa -k x"


def test_the_last_limit_counts(lint: Lint) -> None:
    (found,) = lint(CODE, "-b 8192", "-b 320", WATCH)
    assert found.spot.line == 2
    assert "320 records" in found.message
    assert not lint(CODE, "-b 320", "-b 8192", WATCH)


def test_no_limit_is_the_kernels_64_where_the_lines_are_all_that_is_loaded(lint: Lint) -> None:
    (found,) = lint(CODE, WATCH, whole=True)
    assert "64 records" in found.message
    assert not lint(CODE, WATCH)


def test_what_the_audit_package_sets_and_no_limit_at_all_will_do(lint: Lint) -> None:
    assert not lint(CODE, "-b 8192", WATCH, whole=True)
    assert not lint(CODE, "-b 0", WATCH, whole=True)


def test_what_records_nothing_needs_no_queue(lint: Lint) -> None:
    assert not lint(CODE, "-b 320", "-a never,task", whole=True)
