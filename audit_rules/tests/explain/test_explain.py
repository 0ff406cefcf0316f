from __future__ import annotations

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate_all
from auditrules.cost.constants import Constants
from auditrules.explain.explain import Explanation, explain_event
from auditrules.explain.read_event import parse_event
from auditrules.kernel.field_tests import UnresolvedError
from auditrules.kernel.semantics import Verdict
from auditrules.read import parse

CONSTANTS = Constants.of_debian()


def explained(event: str, *lines: str, constants: Constants | None = CONSTANTS) -> Explanation:
    readings = parse.read_bytes("\n".join(lines).encode(), "x.rules")
    rules, faults = translate_all(
        [one.rule for one in readings if one.rule is not None], AS_WRITTEN
    )
    assert not faults
    return explain_event(rules, parse_event(event), constants)


def line_of(found: Explanation) -> int | None:
    if found.decided_by is None or found.decided_by.source is None:
        return None
    place = found.decided_by.source.place
    return place.line if place else None


def test_the_first_rule_that_matches_decides_and_those_before_it_are_paid_for() -> None:
    found = explained(
        "syscall=openat auid=1000 exit=-13 path=/etc/shadow perm=r",
        "-a always,exit -F arch=b64 -S unlink -k delete",
        "-a always,exit -F arch=b32 -S getdents -k other",
        "-a always,exit -F arch=b64 -S openat -F exit=-EPERM -k eperm",
        "-a always,exit -F arch=b64 -S openat -F exit=-EACCES -F auid>=1000 -k access",
        "-a always,exit -F arch=b64 -S openat -k never-reached",
    )
    assert (found.outcome.recorded, found.outcome.key, line_of(found)) == (True, "access", 4)
    assert [step.verdict for step in found.walked] == [
        Verdict.NOT_NAMED,
        Verdict.NOT_NAMED,
        Verdict.FAILED,
        Verdict.MATCHED,
    ]
    assert str(found.walked[2].failed).startswith("FieldTest(field='exit'")
    assert found.walked[0].instructions == CONSTANTS.walk["unnamed"]
    assert found.predicted is not None
    assert found.predicted.walk == sum(step.instructions or 0 for step in found.walked)


def test_a_watch_of_the_visited_file_is_asked_and_watches_of_others_are_not() -> None:
    found = explained(
        "syscall=openat auid=1000 path=/etc/shadow perm=w",
        *(f"-w /etc/other{number} -p wa -k other" for number in range(64)),
        "-w /etc/shadow -p wa -k identity",
    )
    assert (found.outcome.key, line_of(found), len(found.walked)) == ("identity", 65, 1)
    assert found.walked[0].visited == "/etc/shadow"


def test_slashes_too_many_lead_to_the_same_file() -> None:
    rule = "-w //etc//shadow -p wa -k identity"
    assert explained("syscall=chmod path=/etc/shadow", rule).outcome.recorded


def test_a_tree_holds_the_file_that_lies_in_it() -> None:
    rule = "-a always,exit -F dir=/etc -F perm=wa -k etc"
    assert explained("syscall=unlink path=/etc/x", rule).outcome.recorded
    assert not explained("syscall=unlink path=/srv/x", rule).outcome.recorded


def test_the_first_visited_file_decides_where_two_are_watched() -> None:
    rules = ("-w /b -p wa -k b", "-w /a -p wa -k a")
    assert explained("syscall=rename path=/a path=/b", *rules).outcome.key == "a"
    assert explained("syscall=rename path=/b path=/a", *rules).outcome.key == "b"


def test_a_tree_that_is_itself_visited_holds_it() -> None:
    rule = "-a always,exit -F dir=/etc -F perm=wa -k etc"
    assert explained("syscall=rmdir path=/etc", rule).outcome.recorded


def test_a_program_is_known_by_its_path() -> None:
    rule = "-a always,exit -F exe=/bin/vi -S all -k vi"
    assert explained("syscall=unlink exe=/bin/vi", rule).outcome.recorded
    assert not explained("syscall=unlink exe=/bin/ed", rule).outcome.recorded
    assert not explained("syscall=unlink", rule).outcome.recorded


def test_a_rule_with_an_inode_number_is_met_by_that_file_alone() -> None:
    rule = "-a always,exit -F inode=77 -S all -k inode"
    assert explained("syscall=unlink path=/x inode=77", rule).outcome.recorded
    assert not explained("syscall=unlink path=/x", rule).outcome.recorded


def test_a_rule_that_is_looked_at_for_two_files_is_priced_once() -> None:
    found = explained(
        "syscall=rename path=/a inode=5 path=/b inode=37", "-a always,exit -F inode=69 -S all -k x"
    )
    assert [step.visited for step in found.walked] == ["/a", "/b"]
    assert found.walked[1].instructions is None
    assert found.predicted is not None
    assert found.walked[0].instructions == found.predicted.walk


def test_what_another_part_of_the_kernel_asked_for_is_recorded_unless_a_rule_says_never() -> None:
    event = "syscall=openat raised=yes"
    assert explained(event, "-w /x -p wa -k x").outcome.recorded
    assert not explained(event, "-a never,exit -F arch=b64 -S openat").outcome.recorded


def test_nothing_is_priced_without_constants() -> None:
    found = explained("syscall=open", "-a always,exit -S all -k x", constants=None)
    assert found.predicted is None
    assert [step.instructions for step in found.walked] == [None]


def test_a_user_whom_nobody_knows_is_reported() -> None:
    with pytest.raises(UnresolvedError, match="chrony"):
        explained("syscall=open", "-a always,exit -S all -F uid=chrony -k x")


@pytest.mark.parametrize(
    ("call", "files"),
    [("openat", ["CWD", "PATH"]), ("link", ["CWD", "PATH", "PATH"]), ("fchmod", [])],
)
def test_of_files_that_a_rule_hides_the_names_that_the_call_gives_are_recorded(
    call: str, files: list[str]
) -> None:
    traced = "path=/t/x fstype=0x74726163"
    found = explained(
        f"syscall={call} path=/t fstype=0x74726163 {traced} {traced}",
        f"-a always,exit -S {call} -k x",
        "-a never,filesystem -F fstype=tracefs",
    )
    written = [record.name for record in found.outcome.records]
    assert written == ["SYSCALL", *files, "PROCTITLE", "EOE"]
