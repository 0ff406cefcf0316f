from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "cannot-load"


@pytest.mark.parametrize(
    ("line", "column", "said"),
    [
        ("-a always,exit -F arch=b33 -S execve -k x", 19, "no architecture 'b33'"),
        ("-a always,exit -F arch=b64 -F aiud>=1000 -S execve -k x", 31, "no field 'aiud'"),
        ("-a always,exit -F arch=b64 -S exceve -k x", 31, "no system call 'exceve'"),
        ("-a always,exit -F arch=b64 -F path>/x -S execve -k x", 31, "takes only the operator ="),
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


@pytest.mark.parametrize(
    ("line", "column", "remedy"),
    [
        ("-a always,exit -F arch=b64 -S fchmodat2 -k x", 31, "write its number, 452"),
        ("-a always,exit -F arch=b32 -S cachestat -k x", 31, "write its number, 451"),
        ("-a always,exit -F arch=b64 -S umount -k x", 31, "b32 has it and b64 has not"),
        ('-a always,exit -F path="/etc/x" -F perm=wa -k x', 19, "remove the quotes"),
        ("-a always,exit -S open -F 'auid>=1000' -k x", 27, "remove the quotes"),
        ("-w /etc/shadow -p 'wa' -k x", 19, "remove the quotes"),
        ("-w /etc/shadow -p wa -k 'my key'", 29, "remove the quotes"),
        ("-w /etc/my dir -p wa -k x", 12, r"write `\ `: /etc/my\ dir"),
        ("-w /etc/shadow -p wa -k my key", 28, r"write `\ `: my\ key"),
        ("-a always,exit -S open -k -F auid>=1000", 30, "write one after -k, or remove -k"),
        ("-w /etc/shadow -p wa -k x # why", 27, "put the comment on its own line"),
    ],
)
def test_the_remedy_names_the_repair(lint: Lint, line: str, column: int, remedy: str) -> None:
    (found,) = lint(CODE, line)
    assert found.spot.column == column
    assert remedy in found.remedy


@pytest.mark.parametrize(
    "line", ["-a always,exit -F arch=b64 -S 452 -k x", "-a always,exit -F arch=b32 -S 471 -k x"]
)
def test_a_newer_call_can_be_loaded_by_its_number(lint: Lint, line: str) -> None:
    assert not lint(CODE, line)


def test_quotes_are_not_blamed_where_the_line_fails_without_them_too(lint: Lint) -> None:
    (found,) = lint(CODE, "-w 'relative' -p wa -k x")
    assert found.remedy == "write the whole path"


def test_every_faulty_line_is_found(lint: Lint) -> None:
    found = lint(CODE, "auditctl -D", "-w /etc/shadow -k x", "-w relative -k x", "-S -")
    assert [one.spot.line for one in found] == [1, 3, 4]


def test_what_loads_has_no_fault(lint: Lint) -> None:
    assert not lint(CODE, "-D", "", "# x", "-w /etc/shadow -p wa -k x", "-e 2")
