"""Facts of the kernel's filter; `tests/vm/test_conformance.py` tries them on a real one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate
from auditrules.kernel.event import Event, FileId, VisitedName
from auditrules.kernel.field_tests import UnresolvedError
from auditrules.kernel.semantics import FilterDecision, Loaded, Outcome, Verdict, decide, load
from auditrules.model.kernel_lists import DuplicateError
from auditrules.model.kernel_rule import UNSET, KernelRule
from auditrules.model.rule import Rule
from auditrules.tables import lookup

F1, F2, PROGRAM = FileId(0, 1, 100), FileId(0, 1, 101), FileId(0, 1, 200)
FILES = {"/w/f1": F1, "/w/f2": F2, "/w": FileId(0, 1, 99), "/bin/p": PROGRAM}
OPENAT, GETPPID = lookup.calls("b64")["openat"], lookup.calls("b64")["getppid"]
NAME_1 = VisitedName("/w/f1", F1, mode=0o100644, uid=0, gid=5)
NAME_2 = VisitedName("/w/f2", F2, mode=0o040755, uid=1000)
READ = Event("b64", OPENAT, (0, 0, 0, 0), exit=3, uid=1000, auid=1000, names=(NAME_1,))


def rules(*lines: str) -> Loaded:
    return load([translate(Rule(line), AS_WRITTEN) for line in lines], FILES)


def outcome(event: Event, *lines: str) -> Outcome:
    return decide(rules(*lines), event)


def key(event: Event, *lines: str) -> str | None:
    found = outcome(event, *lines)
    return found.key if found.recorded else None


def test_the_first_rule_in_the_order_decides() -> None:
    always, never = "-a always,exit -S openat -k a", "-a never,exit -S openat"
    assert key(READ, always, never) == "a"
    assert key(READ, never, always) is None


def test_a_prepended_rule_comes_first() -> None:
    assert key(READ, "-a always,exit -S openat -k a", "-A always,exit -S openat -k b") == "b"
    assert key(READ, "-A always,exit -S openat -k a", "-A always,exit -S openat -k b") == "b"


def test_an_inode_rule_decides_by_its_place_in_the_order() -> None:
    watch, never = "-w /w/f1 -p r -k watch", "-a never,exit -S openat"
    assert key(READ, watch, never) == "watch"
    assert key(READ, never, watch) is None


def test_the_first_visited_file_decides_even_where_the_others_rule_stands_earlier() -> None:
    both = replace(READ, names=(NAME_2, NAME_1))
    assert key(both, "-w /w/f1 -p r -k one", "-w /w/f2 -p r -k two") == "two"


def test_a_winner_without_a_key_keeps_the_losers() -> None:
    lines = ("-a always,exit -F path=/w/f1 -F perm=r", "-a always,exit -S openat -k loser")
    assert key(READ, *lines) == "loser"


def test_never_and_nothing_differ_where_the_record_was_raised_elsewhere() -> None:
    raised = replace(READ, raised=True)
    assert outcome(raised, "-a always,exit -S read").recorded
    assert not outcome(raised, "-a never,exit -S openat").recorded
    assert outcome(READ, "-a always,exit -S read").decision is FilterDecision.NONE


def test_the_number_is_tested_before_the_architecture() -> None:
    found = outcome(READ, f"-a always,exit -F arch=b32 -S {OPENAT} -F auid>=1000")
    assert [(step.verdict, step.tested) for step in found.walked] == [(Verdict.FAILED, 1)]


def test_a_rule_without_arch_takes_the_number_in_both_abis() -> None:
    line = "-a always,exit -S getppid -k x"
    assert key(Event("b64", GETPPID), line) == "x"
    assert key(Event("b32", GETPPID), line) == "x"


@pytest.mark.parametrize(("call", "named"), [(0, True), (2031, True), (2032, False), (5000, False)])
def test_all_calls_are_those_below_2032(call: int, *, named: bool) -> None:
    assert (key(Event("b64", call), "-a always,exit -S all -k x") == "x") is named


@pytest.mark.parametrize(
    ("condition", "held"),
    [
        ("exit=3", True), ("exit>2", True), ("exit<0", False), ("success=1", True),
        ("success=0", False), ("auid>=1000", True), ("auid!=unset", True), ("auid=unset", False),
        ("uid!=0", True), ("a1&2", False), ("a1=0", True), ("a2&=0", True), ("perm=r", True),
        ("perm=w", False), ("perm=wa", False), ("filetype=file", True), ("filetype=dir", False),
        ("dir=/w", True), ("dir=/other", False), ("exe=/bin/p", False), ("exe!=/bin/p", True),
        ("obj_uid=0", True), ("obj_gid=5", True), ("inode!=100", False), ("inode!=7", True),
        ("devminor=1", True), ("devmajor!=0", False), ("saddr_fam=2", False),
        ("saddr_fam!=2", False), ("subj_type=x", False), ("gid=0", True), ("pers=0", True),
    ],
)  # fmt: skip
def test_a_field_holds_as_the_kernel_has_it(condition: str, *, held: bool) -> None:
    assert (key(READ, f"-a always,exit -S openat -F {condition} -k x") == "x") is held


@pytest.mark.parametrize(
    ("comparison", "held"),
    [
        ("uid!=euid", True), ("uid=euid", False), ("auid=uid", True), ("uid=obj_uid", False),
        ("uid!=obj_uid", True), ("gid=egid", True),
    ],
)  # fmt: skip
def test_two_ids_compare(comparison: str, *, held: bool) -> None:
    assert (key(READ, f"-a always,exit -S openat -C {comparison} -k x") == "x") is held


def test_exit_is_compared_without_a_sign() -> None:
    failed = replace(READ, exit=-13)
    assert key(failed, "-a always,exit -S openat -F exit>1000 -k x") == "x"
    assert key(failed, "-a always,exit -S openat -F exit=-EACCES -k x") == "x"


def test_exit_and_success_are_false_where_nothing_valid_was_returned() -> None:
    lost = replace(READ, exit=None)
    for condition in ("exit!=5", "success=0", "success=1"):
        assert key(lost, f"-a always,exit -S openat -F {condition} -k x") is None


def test_a_supplementary_group_counts_for_gid_and_egid_alone() -> None:
    member = replace(READ, groups=frozenset({7}))
    assert key(member, "-a always,exit -S openat -F gid=7 -k x") == "x"
    assert key(member, "-a always,exit -S openat -F egid!=7 -k x") is None
    assert key(member, "-a always,exit -S openat -F sgid=7 -k x") is None


def test_an_object_is_any_file_in_the_exit_list_and_this_file_in_its_bucket() -> None:
    both = replace(READ, names=(NAME_1, NAME_2))
    assert key(both, "-a always,exit -S openat -F obj_uid=1000 -k x") == "x"
    assert key(both, "-a always,exit -F path=/w/f1 -F obj_uid=1000 -k x") is None
    # but a comparison is with any file even there
    assert key(both, "-a always,exit -F path=/w/f1 -C uid=obj_uid -k x") == "x"


def test_a_directory_may_be_written_with_a_slash_at_its_end() -> None:
    assert key(READ, "-a always,exit -F dir=/w/ -k x") == "x"
    assert key(READ, "-a always,exit -F dir=/w/f -k x") is None


def test_a_rule_on_a_file_that_is_not_there_never_matches_and_lies_in_the_last_bucket() -> None:
    loaded = rules("-w /w/absent -p rwxa -k x")
    assert loaded.buckets[31] == (0,)
    lost = replace(READ, names=(VisitedName("/w/absent"),), exit=-2)
    assert not decide(loaded, lost).recorded


def test_a_hidden_file_system_hides_its_files() -> None:
    debug = replace(NAME_1, filesystem=0x64626720)
    hidden = replace(READ, names=(debug,))
    watch = "-w /w/f1 -p r -k x"
    assert key(hidden, watch) == "x"
    assert key(hidden, watch, "-a never,filesystem -F fstype=debugfs") is None


def test_of_a_hidden_file_the_name_stays_that_the_call_gave() -> None:
    gone = replace(READ, names=(replace(NAME_1, filesystem=0x64626720),))
    given = replace(READ, names=(replace(NAME_1, filesystem=0x64626720, given=True),))
    hiding = "-a never,filesystem -F fstype=debugfs"
    any_other = "-a always,exit -F inode!=100 -S all"
    assert key(given, any_other) is None
    assert key(given, any_other, hiding) == ""
    assert key(gone, any_other, hiding) is None


def test_what_was_not_created_is_hidden_with_its_directory() -> None:
    hiding, made = "-a never,filesystem -F fstype=debugfs", "-a always,exit -S mknod"
    mknod = replace(READ, call=lookup.calls("b64")["mknod"])
    parent = replace(NAME_1, filesystem=0x64626720, given=True)
    inside, elsewhere = VisitedName(filesystem=0x64626720), VisitedName(filesystem=0xEF53)
    for absent, stay in ((inside, 1), (elsewhere, 2), (VisitedName(), 2)):
        outcome = decide(rules(hiding, made), replace(mknod, names=(parent, absent)))
        assert len(outcome.names) == stay


def test_without_a_rule_that_counts_nothing_is_recorded_whoever_asks() -> None:
    raised = replace(READ, raised=True)
    assert key(raised) is None
    assert key(raised, "-a never,filesystem -F fstype=debugfs", "-a never,user -F uid=0") is None
    assert key(raised, "-a always,exit -S getppid") == ""


@pytest.mark.parametrize("release", lookup.RELEASES)
def test_later_releases_record_a_denied_path_without_rules_but_not_its_files(
    release: lookup.Release,
) -> None:
    raised = replace(READ, raised=True, release=release)
    for rules in ((), ("-a never,user -F uid=0",)):
        found = outcome(raised, *rules)
        assert (found.recorded, found.key, found.names) == (release in {"7.2", "7.3"}, "", ())
    assert not outcome(replace(raised, raised=False)).recorded


def test_a_tree_of_one_file_is_found_by_its_other_names() -> None:
    linked = replace(READ, names=(replace(NAME_1, path="/elsewhere"),))
    assert key(linked, "-a always,exit -F dir=/w/f1") == ""
    assert key(linked, "-a always,exit -F dir=/w") is None


def test_a_tree_is_reached_by_links_on_the_way_and_not_by_one_at_the_end() -> None:
    files = {**FILES, "/link": FileId(0, 1, 98), "/link/": FILES["/w"], "/up/w": FILES["/w"]}

    def recorded(line: str) -> bool:
        return decide(load([translate(Rule(line), AS_WRITTEN)], files), READ).recorded

    assert recorded("-a always,exit -F dir=/up/w")
    assert recorded("-a always,exit -F dir=/link/")
    assert not recorded("-a always,exit -F dir=/link")


def test_a_duplicate_is_refused_unless_it_is_prepended_or_in_another_order() -> None:
    line, other = (
        "-a always,exit -S read -F uid=0 -F gid=0",
        "-a always,exit -S read -F gid=0 -F uid=0",
    )
    with pytest.raises(DuplicateError):
        rules(line, line)
    assert len(rules(line, other, "-A" + line.removeprefix("-a")).rules) == 3


def test_a_name_that_nobody_resolved_is_an_error_not_a_guess() -> None:
    with pytest.raises(UnresolvedError, match="apache"):
        outcome(READ, "-a always,exit -S openat -F uid=apache")


def test_unset_is_a_login_that_was_never_set() -> None:
    daemon = replace(READ, auid=UNSET)
    assert key(daemon, "-a always,exit -S openat -F auid=-1 -k x") == "x"
    assert key(daemon, "-a always,exit -S openat -F auid>=1000 -k x") == "x"


def test_walked_rules_are_those_of_the_exit_list_and_of_the_visited_buckets() -> None:
    found = outcome(
        READ, "-a always,exit -S read", "-w /w/f2 -p w", "-w /w/f1 -p w", "-a always,exit -S openat"
    )
    assert [(step.rule, step.verdict) for step in found.walked] == [
        (0, Verdict.NOT_NAMED), (3, Verdict.MATCHED), (2, Verdict.FAILED),
    ]  # fmt: skip
    assert isinstance(rules("-w /w/f1").rules[0], KernelRule)
