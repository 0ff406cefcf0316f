from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardcost.auditrules.lint.finding import Finding

    Lint = Callable[..., tuple[Finding, ...]]

CODE = "cannot-load"


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ("-a always,exit -F arch=b33 -S execve -k x", 19, "no architecture 'b33'"),
        ("-a always,exit -F arch=b64 -F aiud>=1000 -S execve -k x", 31, "no field 'aiud'"),
        ("-a always,exit -F arch=b64 -S exceve -k x", 31, "no system call 'exceve'"),
        ("-a always,exit -F arch=b64 -F path>/x -S execve -k x", 31, "no operator but ="),
        ("-a always,exit -F arch=b64 -S open -F exit=-EACES -k x", 39, "no error 'EACES'"),
        ("-a always,exut -S open", 4, "not a list and an action"),
    ],
)
def test_what_the_kernel_refuses_is_found_with_its_place_and_a_remedy(
    lint: Lint, line: str, column: int, said: str
) -> None:
    (found,) = lint(CODE, "# rules", line)
    assert (found.spot.line, found.spot.column, found.level) == (2, column, "error")
    assert said in found.message
    assert found.remedy
    assert found.text == line


def test_a_call_that_never_was_is_named_with_the_one_that_was_meant(lint: Lint) -> None:
    (found,) = lint(CODE, "-a always,exit -F arch=b64 -S init_module,fini_module -k modules")
    assert found.spot.column == 31
    assert "delete_module" in found.remedy


def test_every_faulty_line_is_found(lint: Lint) -> None:
    found = lint(CODE, "auditctl -D", "-w /etc/shadow -k x", "-w relative -k x", "-S -")
    assert [one.spot.line for one in found] == [1, 3, 4]


def test_what_loads_has_no_fault(lint: Lint) -> None:
    assert not lint(CODE, "-D", "", "# x", "-w /etc/shadow -p wa -k x", "-e 2")
