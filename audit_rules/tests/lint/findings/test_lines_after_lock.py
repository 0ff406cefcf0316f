from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from auditrules.lint import checks
from auditrules.lint.context import gather
from auditrules.lint.diagnostic import Diagnostic
from auditrules.read import parse

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "lines-after-lock"


WATCH = "-w /etc/shadow -p wa -k x"


@pytest.mark.parametrize("lock", ["-e 2", "-e2", " -e  2 ", "-b 64 -e 2"])
def test_rules_and_settings_below_the_lock_are_refused(lint: Lint, lock: str) -> None:
    (found,) = lint(CODE, WATCH, lock, "# more", WATCH.replace("shadow", "group"), "-b 8192")
    assert (found.spot.line, found.level) == (2, "error")
    assert [spot.line for spot in found.related] == [4, 5]
    assert "2 lines below, 1 of them a rule, are refused" in found.message


def test_a_lock_at_the_end_is_well_placed(lint: Lint) -> None:
    assert not lint(CODE, WATCH, "-e 2", "", "# end")


def test_what_the_lock_does_not_hold_may_follow(lint: Lint) -> None:
    assert not lint(CODE, WATCH, "-e 2", "--loginuid-immutable", "-i")


def test_other_values_lock_nothing(lint: Lint) -> None:
    assert not lint(CODE, "-e 1", WATCH)
    assert not lint(CODE, "-e 0", WATCH)


def test_in_a_folder_the_lock_goes_to_the_end_by_itself(tmp_path: Path) -> None:
    (tmp_path / "10-first.rules").write_text(f"-e 2\n{WATCH}\n")
    (tmp_path / "20-second.rules").write_text("-w /etc/group -p wa -k x\n")
    ((readings, _),) = parse.read_each([tmp_path])
    assert not checks.findings_in(gather([readings]), {CODE})
