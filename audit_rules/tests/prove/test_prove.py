"""What the prover says of two sets of rules, and the example with which it shows a difference."""

from __future__ import annotations

from dataclasses import replace

import pytest

from audit_rules.tests.prove.rule_sets import ALWAYS, NEVER, OTHER, STIG, edited, proved, rules
from auditrules.auditctl.translate import translate
from auditrules.kernel.semantics import decide, load
from auditrules.model.kernel_lists import DuplicateError
from auditrules.model.kernel_rule import CALLS, Action
from auditrules.model.rule import Rule
from auditrules.prove.prove import can_fire, fires, prove_equal
from auditrules.prove.relation import Relation
from auditrules.tables import lookup


def test_a_set_is_equal_to_itself_without_a_solver() -> None:
    result = proved(STIG, STIG)
    assert result.equal
    assert result.solved == 0
    assert result.classes > 10
    assert result.difference is None


def test_rules_that_no_event_matches_together_may_change_places() -> None:
    order = (5, 6, 1, 3, 4, 7, 0, 8, 10, 2, 9, 12, 11, 13, 14)
    shuffled = tuple(STIG[index] for index in order)
    assert sorted(shuffled) == sorted(STIG)
    moved = (*STIG[:3], STIG[7], *STIG[3:7], *STIG[8:])
    assert proved(STIG, shuffled).equal
    # but a call that visits a watched file and a watched tree shows which of the two came first
    result = proved(STIG, moved)
    assert result.equal is False
    assert result.difference is not None
    assert {len(result.difference.event.names)} <= {1, 2}


@pytest.mark.parametrize(
    ("other", "call"),
    [
        (edited(13, "unlinkat,", ""), "unlinkat"),
        (edited(10, "auid>=1000", "auid>=500"), None),
        (edited(2, "a0=0x0", "a0=0x1"), "clock_settime"),
        ((*STIG[:8], *STIG[9:], STIG[8]), "chmod"),
        (edited(14, "-p wa", "-p w"), None),
        (edited(6, "identity", "identities"), None),
    ],
)
def test_an_edit_is_found_with_an_event_that_the_semantics_confirm(
    other: tuple[str, ...], call: str | None
) -> None:
    result = proved(STIG, other)
    difference = result.difference
    assert result.equal is False
    assert difference is not None
    event = difference.event
    assert call in {None, lookup.call_name(event.arch, event.call)}
    for lines, outcome in ((STIG, difference.outcome_a), (other, difference.outcome_b)):
        assert decide(load(rules(*lines), difference.files), event) == outcome
    assert not Relation().agree(difference.outcome_a, difference.outcome_b)
    # such as a kernel would see it
    assert len(event.names) <= 1
    assert not event.raised


def test_a_lost_permission_is_shown_by_a_call_that_has_it_alone() -> None:
    result = proved(("-w /etc/sudoers -p wa -k k",), ("-w /etc/sudoers -p w -k k",))
    assert result.difference is not None
    event = result.difference.event
    name = lookup.call_name(event.arch, event.call)
    assert name in {"fchmodat", "chmod"}
    assert [visited.path for visited in event.names] == ["/etc/sudoers"]


def test_never_differs_from_no_rule_only_where_a_record_may_be_raised() -> None:
    exact = proved((NEVER, OTHER), (OTHER,))
    assert exact.equal is False
    assert exact.difference is not None
    assert exact.difference.event.raised
    assert proved((NEVER,), (), Relation(ignore_raised=True)).equal


def test_without_any_rule_even_what_is_raised_is_not_recorded() -> None:
    useless = "-a always,exit -S openat -F uid=1 -F uid=2"
    result = proved((useless,), ())
    assert result.difference is not None
    assert result.difference.event.raised
    assert proved((useless,), (), Relation(ignore_raised=True)).equal
    assert proved((useless,), ("-a always,task -F arch=b64",)).equal
    # never about all calls that a mask can hold, but not about those above
    assert proved(("-a never,exit -S all",), ()).equal is False


def test_under_later_releases_the_same_record_lists_no_files_without_rules() -> None:
    useless = "-a always,exit -S openat -F uid=1 -F uid=2"
    result = prove_equal(rules(useless), (), release="7.3")
    assert result.difference is not None
    a, b = result.difference.outcome_a, result.difference.outcome_b
    assert a.recorded
    assert b.recorded
    assert a.names
    assert not b.names
    assert prove_equal((), rules(useless), Relation(at_least=True), release="7.3").equal
    assert not prove_equal(rules(useless), (), Relation(at_least=True), release="7.3").equal
    assert prove_equal(rules(useless), (), Relation(ignore_raised=True), release="7.3").equal


def test_a_never_rule_behind_all_others_changes_nothing_but_what_is_raised() -> None:
    assert proved((ALWAYS,), (ALWAYS, NEVER)).equal
    assert proved((ALWAYS,), (NEVER, ALWAYS)).equal is False


def test_keys_count_unless_they_are_ignored() -> None:
    other = ALWAYS.replace("-k a", "-k b")
    assert proved((ALWAYS,), (other,)).equal is False
    assert proved((ALWAYS,), (other,), Relation(ignore_keys=True)).equal


def test_a_winner_without_key_hands_on_the_losers() -> None:
    watch, plain = "-a always,exit -F path=/f -F perm=r", "-a always,exit -S openat -k loser"
    # the calls that the second names lose nothing by it
    assert proved((watch, plain), (watch.replace("perm=r", "perm=r -k w"), plain)).equal is False


def test_32_bit_calls_are_left_out_on_demand() -> None:
    both = ("-a always,exit -F arch=b64 -S openat", "-a always,exit -F arch=b32 -S openat")
    assert proved(both, both[:1]).equal is False
    assert proved(both, both[:1], Relation(no_b32=True)).equal


def test_at_least_lets_the_second_record_more_but_not_less() -> None:
    less, more = ("-a always,exit -S openat -F uid=0 -k a",), (ALWAYS,)
    relation = Relation(at_least=True)
    assert proved(less, more, relation).equal
    assert proved(more, less, relation).equal is False


def test_a_file_in_a_watched_directory_needs_no_watch_of_its_own() -> None:
    tree = "-a always,exit -F dir=/etc -F perm=wa -k etc"
    watch = "-a always,exit -F path=/etc/passwd -F perm=wa -k etc"
    assert proved((tree, watch), (tree,)).equal
    outside = watch.replace("/etc/passwd", "/srv/passwd")
    assert proved((tree, outside), (tree,)).equal is False


def test_nested_directories_are_known() -> None:
    outer, inner = "-a always,exit -F dir=/etc -k e", "-a always,exit -F dir=/etc/ssh/ -k e"
    assert proved((outer, inner), (outer,)).equal
    assert proved((outer, inner), (inner,)).equal is False


def test_the_first_visited_file_decides_so_order_matters_with_two_files_alone() -> None:
    one, two = "-w /a -p r -k one", "-w /b -p r -k two"
    assert proved((one, two), (two, one)).equal


def test_conditions_on_any_file_need_more_names_than_two() -> None:
    anywhere = "-a always,exit -S rename -F obj_uid=1 -F obj_uid=2 -F obj_uid=3 -F dir=/d -k x"
    result = proved((anywhere, OTHER), (OTHER,))
    assert result.equal is False
    assert result.difference is not None
    owners = {name.uid for name in result.difference.event.names}
    assert owners >= {1, 2, 3}
    assert proved(
        (anywhere, "-a always,exit -S open -F inode=5 -F obj_uid=1 -F obj_uid=2"), (anywhere,)
    ).equal


def test_contradictions_are_seen() -> None:
    never_true = "-a always,exit -S openat -F auid>=1000 -F auid<500"
    assert proved((never_true, OTHER), (OTHER,)).equal
    neither = "-a always,exit -S openat -F success=1 -F success=0"
    assert proved((neither, OTHER), (OTHER,)).equal
    # the lower half of an address may look like an error
    either = "-a always,exit -S openat -F exit=-13 -F success=1"
    assert proved((either, OTHER), (OTHER,)).equal is False


def test_two_halves_make_a_whole() -> None:
    halves = ("-a always,exit -S openat -F uid<7 -k k", "-a always,exit -S openat -F uid>=7 -k k")
    assert proved(halves, ("-a always,exit -S openat -k k",)).equal
    gap = (halves[0], halves[1].replace(">=", ">"))
    result = proved(gap, ("-a always,exit -S openat -k k",))
    assert result.difference is not None
    assert result.difference.event.uid == 7


def test_a_supplementary_group_is_no_other_value_of_gid() -> None:
    is_five, is_not = "-a always,exit -S openat -F gid=5", "-a always,exit -S openat -F gid!=5"
    assert proved((is_five, is_not), ("-a always,exit -S openat",)).equal
    between = ("-a always,exit -S openat -F gid>=5 -F gid<=5",)
    result = proved((is_five,), between)
    assert result.difference is not None
    assert result.difference.event.groups == {5}


def test_a_user_whom_nobody_resolved_is_the_same_in_both() -> None:
    line = "-a always,exit -S openat -F uid=someone -k k"
    result = proved((line,), (line, "-a always,exit -S openat -F uid=someone -F gid=3 -k k"))
    assert result.equal
    assert any("someone" in one.text for one in result.assumptions)
    result = proved((line,), (line.replace("someone", "another"),))
    assert result.difference is not None
    assert set(result.difference.resolved) == {"user someone", "user another"}


def test_assumptions_are_listed_where_they_matter() -> None:
    plain, watch = proved((ALWAYS,), (ALWAYS,)), proved(("-w /f -p r",), ("-w /f -p r",))
    assert not any("replaced" in one.text for one in plain.assumptions)
    assert any("replaced" in one.text for one in watch.assumptions)


def test_a_record_that_says_whom_a_signal_went_to_is_another_record() -> None:
    """A rule that names kill makes the kernel note receivers; one that never matches does, too."""
    dead = "-a always,exit -S kill -F uid=0 -F uid=1"
    difference = proved((ALWAYS, dead), (ALWAYS,)).difference
    assert difference is not None
    assert lookup.call_name(difference.event.arch, difference.event.call) in {
        "kill",
        "tkill",
        "tgkill",
    }
    assert difference.event.raised
    assert (difference.outcome_a.receivers, difference.outcome_b.receivers) == (True, False)
    assert proved((ALWAYS, dead), (ALWAYS,), Relation(ignore_raised=True)).equal
    assert proved((ALWAYS,), (ALWAYS, dead), Relation(at_least=True)).equal
    assert proved((ALWAYS, dead), (ALWAYS,), Relation(at_least=True)).equal is False
    assert proved((ALWAYS, dead), (ALWAYS, "-a always,exit -S tkill -F uid=0 -F uid=1")).equal


def test_paths_that_a_symbolic_link_would_separate_are_listed() -> None:
    rule = "-a always,exit -S open -F dir={} -k k"
    slash = proved((rule.format("/bin/"),), (rule.format("/bin"),))
    assert slash.equal
    assert any("/bin and /bin/ are the same" in one.text for one in slash.assumptions)
    same = proved((rule.format("/bin/"),), (rule.format("/bin/"),))
    assert not any("symbolic link" in one.text for one in same.assumptions)


def test_a_rule_that_the_kernel_refuses_as_a_duplicate_is_an_error() -> None:
    with pytest.raises(DuplicateError):
        proved((ALWAYS, ALWAYS), (ALWAYS,))


def test_a_watch_may_be_the_same_as_a_prepended_rule_that_the_example_is_about() -> None:
    prepended = "-A always,exit -F path=/x -F perm=w -k s"
    watch = translate(Rule("-w /x -p w -k s"))
    result = prove_equal(
        [*rules(prepended), watch], rules("-a always,exit -F path=/x -F perm=w -k t")
    )
    assert result.difference is not None
    assert result.difference.outcome_a.key == "s"


def test_a_proof_without_time_is_not_known() -> None:
    halves = ("-a always,exit -S openat -F uid<7 -k k", "-a always,exit -S openat -F uid>=7 -k k")
    result = prove_equal(rules(*halves), rules("-a always,exit -S openat -k k"), seconds=-1.0)
    assert result.equal is None
    assert result.reason == "it takes too long"


def test_a_shadowed_rule_can_decide_nothing() -> None:
    lines = rules(
        "-a always,exit -S openat -k all",
        "-a always,exit -S openat,chmod -F uid=0",
        "-a never,exit -S openat -F uid=1",
        "-w /f -p wa",
        "-a always,exit -S chmod -F uid=0 -F auid=7",
        "-a always,exit -S open -F auid>5 -F auid<5",
    )
    assert fires(lines) == {0: True, 1: True, 2: False, 3: True, 4: False, 5: False}
    assert can_fire(lines, 2) is False
    assert can_fire(lines, 3) is True


def test_masks_of_all_calls_and_of_none_are_distinguished() -> None:
    everything = replace(rules(ALWAYS)[0], mask=(1 << CALLS) - 1)
    nothing = replace(everything, mask=0)
    assert prove_equal([nothing, *rules(OTHER)], rules(OTHER)).equal
    assert prove_equal([everything], [nothing]).equal is False
    assert prove_equal([replace(everything, action=Action.NEVER)], [everything]).equal is False
