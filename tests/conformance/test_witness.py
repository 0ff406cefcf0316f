"""A difference becomes a call: `tests/vm/test_prove.py` makes such calls."""

from __future__ import annotations

import posixpath

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate
from auditrules.model.rule import Rule
from auditrules.prove.prove import prove_equal
from conformance.calls import Text, directory, mount
from conformance.witness import Witness, witness

OTHER = "-a always,exit -F arch=b64 -S read -k other"


def of(a: str, b: str, number: int = 0) -> Witness | None:
    sets = [
        [translate(Rule(line), AS_WRITTEN) for line in (text, OTHER) if line] for text in (a, b)
    ]
    difference = prove_equal(sets[0], sets[1]).difference
    assert difference is not None
    return witness(difference, sets[0], sets[1], number)


def test_rules_and_files_are_moved_to_a_root_of_their_own() -> None:
    made = of("-w /etc/shadow -p wa -k shadow", "-w /etc/shadow -p r -k shadow", 3)
    assert made is not None
    assert "path=/case3/etc/shadow" in made.sets[0]
    assert made.fixture[:2] == (mount("/case3"), directory("/case3/etc"))
    assert made.expected in {("shadow", None), (None, "shadow")}
    assert Text("/case3/etc/shadow") in made.call.arguments


def test_a_call_that_is_refused_is_made_by_a_user_who_lacks_the_right() -> None:
    line = "-a always,exit -F arch=b64 -S openat -F exit=-EACCES -F auid>=1000 -k access"
    made = of(line, "")
    assert made is not None
    assert made.result == -13
    assert 0 not in made.worker.uid
    assert made.worker.auid == 1000


def test_a_file_that_is_not_found_is_one_that_is_not_there() -> None:
    line = "-a always,exit -F arch=b64 -S openat -F exit=-ENOENT -k missing"
    made = of(line, "")
    assert made is not None
    assert made.result == -2
    visited = [one.text for one in made.call.arguments if isinstance(one, Text)]
    assert len(visited) == 1
    assert visited[0].startswith("/case0/")
    # With O_CREAT too: its directory is not there either.
    assert posixpath.dirname(visited[0]) not in {step.path for step in made.fixture}
    assert made.call.before == ()


def test_a_file_that_is_not_found_has_no_owner() -> None:
    line = "-a always,exit -F arch=b64 -S openat -F exit=-ENOENT -F obj_uid=1000"
    assert of(line, "") is None
    watched = "-a always,exit -F arch=b64 -S openat -F exit=-ENOENT -F path=/etc/shadow"
    assert of(watched, "") is None


@pytest.mark.parametrize("call", ["rename", "renameat", "link", "unlink", "unlinkat", "execve"])
def test_nothing_is_made_that_a_call_is_not_to_find(call: str) -> None:
    made = of(f"-a always,exit -F arch=b64 -S {call} -F exit=-ENOENT", "")
    assert made is not None
    assert Text("/case0/hardcost/missing/x") in made.call.arguments
    assert made.call.before == ()
    assert of(f"-a always,exit -F arch=b64 -S {call} -F exit=-ENOENT -F obj_uid=5", "") is None


def test_the_program_that_a_rule_names_makes_the_call() -> None:
    made = of("-a always,exit -F arch=b64 -S openat -F exe=/opt/tool -k tool", "")
    assert made is not None
    assert made.worker.program == "/case0/opt/tool"


def test_what_can_not_be_made_at_will_is_no_call() -> None:
    never = "-a never,exit -F arch=b64 -S openat"
    assert of(never, "") is None  # a record that an LSM asks for
    assert of("-a never,task", "") is None
    assert of("-a always,exit -S openat -F subj_type=kernel_t", "") is None
    assert of("-a always,exit -F arch=b64 -S openat -F exit=-EACCES -F fsuid=0", "") is None
    assert of("-a always,exit -F arch=b64 -S reboot", "") is None
