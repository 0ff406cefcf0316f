"""Optimised sets against the prover, the semantics and the cost model."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from audit_rules.tests.random_rule_sets import Drawing
from auditrules.auditctl.translate import AS_WRITTEN, translate
from auditrules.cost.call_classes import Alike
from auditrules.cost.constants import Constants
from auditrules.cost.events import events
from auditrules.cost.histogram import general
from auditrules.cost.predict import predict
from auditrules.kernel.semantics import decide, load
from auditrules.kernel.signal_calls import signal_calls
from auditrules.model.kernel_lists import DuplicateError, check_distinct
from auditrules.model.kernel_rule import ALL_CALLS, FieldTest, KernelRule
from auditrules.model.rule import Rule
from auditrules.optimize import changes, never, reasons, signals
from auditrules.optimize.optimize import Optimised, OptimizeOptions, more_if_thorough, optimise
from auditrules.optimize.output import rule_text
from auditrules.optimize.prices import Prices
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

CONSTANTS = Constants.of_debian()
DRAWN = 150  # events for each pair of sets


def rules(*lines: str) -> tuple[KernelRule, ...]:
    return tuple(translate(Rule(line), AS_WRITTEN) for line in lines)


def made(*lines: str, b32: bool = True, never_first: bool = False) -> Optimised:
    options = OptimizeOptions(b32, never_first, thorough=True)
    return optimise(rules(*lines), CONSTANTS, general(), options)


def texts(found: Optimised) -> list[str]:
    return [rule_text(line.rule) for line in found.lines]


def cost(found: Optimised, call: str, arch: Arch = "b64") -> tuple[float, float]:
    at = arch, lookup.calls(arch)[call]
    return found.before[at], found.after[at]


def test_calls_of_rules_that_are_alike_are_joined() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S chmod,fchmod -F auid>=1000 -k perm",
        "-a always,exit -F arch=b64 -S chown -F auid>=1000 -k perm",
    )
    assert texts(found) == [
        "-a always,exit -F arch=b64 -S chmod,fchmod,chown -F auid>=1000 -k perm"
    ]
    assert found.lines[0].origins == (0, 1)
    unnamed = CONSTANTS.walk["unnamed"]
    assert cost(found, "read") == (2 * unnamed, unnamed)


def test_rules_of_other_keys_or_actions_are_not_joined() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S chmod -k one",
        "-a always,exit -F arch=b64 -S chown -k other",
        "-a never,exit -F arch=b64 -S fchmod -k one",
    )
    assert len(found.lines) == 3
    assert not found.saves


def test_rules_are_not_joined_across_one_that_has_to_stand_between() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S chmod -F uid=0 -k perm",
        "-a never,exit -F arch=b64 -S chmod,chown -F auid=1000 -F a0=1",
        "-a always,exit -F arch=b64 -S chmod,chown -F uid=0 -k perm",
    )
    assert len(found.lines) == 3


def test_the_same_rules_are_joined_where_the_one_between_is_for_other_calls() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S chmod -F uid=0 -k perm",
        "-a never,exit -F arch=b64 -S mount -F auid=1000",
        "-a always,exit -F arch=b64 -S chmod,chown -F uid=0 -k perm",
    )
    assert {line.origins for line in found.lines} == {(0, 2), (1,)}


def test_a_rule_in_whose_place_an_earlier_one_decides_is_dropped() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S chmod,chown -k wide",
        "-a always,exit -F arch=b64 -S chown -F auid>=1000 -k narrow",
    )
    assert texts(found) == ["-a always,exit -F arch=b64 -S chmod,chown -k wide"]


def test_a_rule_that_can_match_no_call_is_dropped() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S chmod -F auid>=1000 -F auid<500 -k none",
        "-a always,exit -F arch=b64 -S read -F perm=x -k none",
        "-a always,exit -F arch=b64 -S chmod -F auid>=1000 -k some",
    )
    assert found.dropped == (0, 1)
    assert len(found.lines) == 1


def test_one_rule_is_kept_in_any_case_so_that_the_kernel_looks_at_calls() -> None:
    found = made("-a always,exit -F arch=b64 -S chmod -F auid>=1000 -F auid<500 -k none")
    assert len(found.lines) == 1
    assert found.proof.equal


def test_a_rule_on_a_directory_is_narrowed_to_the_calls_that_its_permissions_are() -> None:
    found = made("-a always,exit -F dir=/etc/d -F perm=wa -k d", "-w /etc/f -p wa -k f")
    mask = found.lines[0].rule.mask
    for arch in lookup.ARCHES:
        assert mask >> lookup.calls(arch)["unlink"] & 1
        assert mask >> lookup.calls(arch)["openat"] & 1
    assert not mask >> lookup.calls("b64")["read"] & 1
    assert cost(found, "getppid")[1] == CONSTANTS.walk["unnamed"]


def test_narrowing_leaves_a_rule_that_names_a_call_which_sends_signals() -> None:
    found = made("-a always,exit -F dir=/etc/d -F perm=wa -k d")
    assert found.lines[0].rule.mask != ALL_CALLS
    assert any(signal_calls(line.rule) for line in found.lines)
    before, after = cost(found, "kill")
    assert after < before


def test_no_signal_call_is_named_where_none_was() -> None:
    found = made("-a always,exit -F arch=b64 -S chmod -F dir=/etc/d -F perm=wa -k d")
    assert not any(signal_calls(line.rule) for line in found.lines)


def test_errors_of_two_rules_become_a_range_that_leaves_the_others_out() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S open,openat -F exit=-EACCES -k access",
        "-a always,exit -F arch=b64 -S open,openat -F exit=-EPERM -k access",
    )
    (line,) = found.lines
    assert FieldTest("exit", line.rule.conditions[0].operator, 0xFFFFFFF3) in line.rule.conditions
    assert found.proof.equal
    assert found.dearer_failing > 0
    before, after = cost(found, "openat")
    assert after < before


def test_what_a_range_may_cost_counts_the_errors_that_it_was_made_of() -> None:
    start = "-a always,exit -F arch=b64 -S open,openat,creat,truncate,ftruncate"
    found = made(
        f"{start} -F exit=-EACCES -F auid>=1000 -F auid!=unset -k access",
        f"{start} -F exit=-EPERM -F auid>=1000 -F auid!=unset -k access",
    )
    prices = Prices(CONSTANTS, general())
    denied = replace(events("b64")["openat"], exit=-13)
    old, new = (
        predict(CONSTANTS, prices.arrange_rules(rules), denied).walk
        for rules in (found.original, found.rules)
    )
    assert 0 < new - old <= found.dearer_failing


def test_rules_of_both_abis_are_joined_where_perm_tells_their_numbers_apart() -> None:
    found = made(
        "-a always,exit -F arch=b32 -S execve -C uid!=euid -F euid=0 -k priv",
        "-a always,exit -F arch=b64 -S execve -C uid!=euid -F euid=0 -k priv",
    )
    (line,) = found.lines
    assert "-S 11,59 " in rule_text(line.rule)
    assert "-F perm=x" in rule_text(line.rule)
    assert found.proof.equal


SIMPLE = (
    "-a always,exit -F arch=b32 -S execve -C uid!=euid -F euid=0 -k priv",
    "-a always,exit -F arch=b64 -S execve -C uid!=euid -F euid=0 -k priv",
    "-a always,exit -F arch=b64 -S open,openat -F exit=-EACCES -k access",
    "-a always,exit -F arch=b64 -S open,openat -F exit=-EPERM -k access",
    "-a always,exit -F path=/usr/bin/su -F perm=x -k privileged",
    "-a always,exit -F dir=/etc/d -F perm=wa -k d",
    "-a always,exit -F arch=b64 -S chmod -k perm",
    "-a always,exit -F arch=b64 -S chown -k perm",
)


def test_by_default_only_changes_that_are_recognised_or_save_much_are_made() -> None:
    few = optimise(rules(*SIMPLE), CONSTANTS, general())
    every = optimise(rules(*SIMPLE), CONSTANTS, general(), OptimizeOptions(thorough=True))
    assert few.proof.equal
    assert [(line.origins, line.done) for line in few.lines if line.done] == [
        ((5,), (changes.NARROWED,)),  # each call pays for a directory
        ((6, 7), (changes.MERGED,)),
    ]
    done = {what for line in every.lines for what in line.done}
    assert {changes.BOTH_ABIS, changes.RANGE} <= done
    more = more_if_thorough(few)
    assert more == pytest.approx(few.mean.after - every.mean.after)
    assert more > CONSTANTS.walk["unnamed"]


def test_what_the_changes_save_adds_up_but_for_calls_that_a_rule_decides() -> None:
    found = optimise(rules(*SIMPLE), CONSTANTS, general())
    saved = math.fsum(line.saves for line in found.lines) + found.dropped_saves
    assert saved == pytest.approx(found.mean.before - found.mean.after, rel=1e-3)
    assert all((line.saves > 0) == bool(line.done) for line in found.lines)


def test_each_change_has_its_reason() -> None:
    found = optimise(rules(*SIMPLE), CONSTANTS, general(), OptimizeOptions(thorough=True))
    for line in found.lines:
        assert reasons.why(line).startswith("The same is recorded: ") == bool(line.done)
    kinds = (*vars(changes).values(), signals.KEPT, never.NEVER_FIRST)
    named = {what for what in kinds if isinstance(what, str) and " " in what and "\n" not in what}
    assert named == set(reasons.WHY)


def test_rules_of_both_abis_stay_two_where_their_numbers_mean_other_calls() -> None:
    found = made(
        "-a always,exit -F arch=b32 -S mount -k mount",
        "-a always,exit -F arch=b64 -S mount -k mount",
    )
    assert len(found.lines) == 2


def test_without_32_bit_calls_their_rules_are_dropped() -> None:
    found = made(
        "-a always,exit -F arch=b32 -S mount -k mount",
        "-a always,exit -F arch=b64 -S mount -k mount",
        b32=False,
    )
    assert found.dropped == (0,)
    assert found.proof.relation == Relation(no_b32=True)


def test_never_first_spares_the_calls_that_nobody_asks_for_and_no_other() -> None:
    lines = [f"-a always,exit -F arch=b64 -S mount -F a0={n} -k k{n}" for n in range(20)]
    found = made(*lines, never_first=True)
    first = found.lines[0]
    assert never.NEVER_FIRST in first.done
    assert not first.rule.names(lookup.calls("b64")["mount"])
    assert cost(found, "read")[1] < cost(found, "read")[0] / 3
    assert found.proof.equal
    assert not prove_equal(found.original, found.rules, Relation()).equal


def test_never_first_leaves_out_the_calls_of_watches_that_stand_below() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S unlink -F uid=0 -k one",
        "-w /etc/f -p wa -k two",
        *(f"-a always,exit -F arch=b64 -S mount -F a0={n} -k k{n}" for n in range(20)),
        never_first=True,
    )
    assert never.NEVER_FIRST in {what for line in found.lines for what in line.done}
    assert found.proof.equal


def test_never_first_is_left_alone_where_it_would_not_pay() -> None:
    found = made("-a always,exit -F arch=b64 -S mount -k mount", never_first=True)
    assert len(found.lines) == 1


def test_prepended_rules_take_their_place_by_priority() -> None:
    found = made(
        "-a always,exit -F arch=b64 -S mount -k late",
        "-A never,exit -F arch=b64 -S mount -F uid=0",
    )
    assert [line.origins for line in found.lines] == [(1,), (0,)]
    assert found.proof.equal


def test_rules_of_other_lists_stay() -> None:
    found = made(
        "-a never,task -F uid=1",
        "-a always,exit -F arch=b64 -S mount -k mount",
        "-a never,exclude -F msgtype=CWD",
    )
    assert found.others == (0, 2)
    assert len(found.rules) == 3


def test_a_rule_on_an_inode_keeps_its_place_among_others_that_say_the_same() -> None:
    found = made(
        "-w /etc/a -p wa -k other",
        "-a always,exit -F dir=/etc/d -F perm=wa -k same",
        "-w /etc/b -p wa -k same",
        *(f"-a always,exit -F arch=b64 -S mount -F a0={n} -k k{n}" for n in range(20)),
        never_first=True,
    )
    assert found.proof.equal
    assert not found.kept_because
    assert never.NEVER_FIRST in {what for line in found.lines for what in line.done}
    order = [line.origins for line in found.lines]
    assert order.index((0,)) < order.index((1,)) < order.index((2,))


def test_calls_that_no_rule_tells_apart_are_walked_once() -> None:
    prices = Prices(CONSTANTS, general())
    loaded = prices.arrange_rules(rules("-a always,exit -F arch=b64 -S mount -F a0=1 -k mount"))
    alike = Alike(CONSTANTS, loaded)
    walked = {id(alike.price_walk(case.event, case.kind)) for case in prices.typical}
    assert len(walked) < len(prices.typical) / 5
    for case in prices.typical:
        assert alike.predict(case.event) == predict(CONSTANTS, loaded, case.event)


def test_what_is_decided_about_a_call_that_sends_a_signal_is_reported_from_others() -> None:
    loaded = load(rules("-a always,exit -F arch=b64 -S kill,getppid -k both"))
    alike = Alike(CONSTANTS, loaded)
    for call in ("getppid", "kill"):
        event = events("b64")[call]
        assert alike.decide(event).receivers is decide(loaded, event).receivers


def test_a_rule_has_the_same_hash_after_pickling() -> None:
    (rule,) = rules("-a always,exit -F arch=b64 -S mount -k mount")
    before = hash(rule)
    again = pickle.loads(pickle.dumps(rule))  # noqa: S301  (our own)
    assert "_hash" not in vars(again)
    assert (again, hash(again)) == (rule, before)


# Random sets --------------------------------------------------------------------------------------

CALLS = ("open", "openat", "unlink", "chmod", "execve", "mount", "read", "kill", "truncate")
CONDITIONS = (
    "auid>=1000", "auid!=unset", "auid=1000", "uid=0", "exit=-EACCES", "exit=-EPERM", "success=1",
    "a0=1", "a1&0100", "perm=wa", "perm=r", "perm=x", "dir=/etc/d", "exe=/bin/su", "euid=0",
)  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> str:
    """Draw a rule whose like may well be drawn again."""
    key = draw(st.sampled_from(("-k one", "-k two", "")))
    if draw(st.integers(0, 5)) == 0:
        watch = draw(st.sampled_from(("/etc/f", "/etc/d/g")))
        return f"-w {watch} -p {draw(st.sampled_from(('wa', 'r', 'x')))} {key}".strip()
    action = draw(st.sampled_from(("always", "always", "always", "never")))
    arch = draw(st.sampled_from(("-F arch=b64 ", "-F arch=b32 ", "-F arch=b64 ", "")))
    calls = draw(st.lists(st.sampled_from(CALLS), min_size=1, max_size=3, unique=True))
    named = draw(st.sampled_from((f"-S {','.join(calls)}", f"-S {','.join(calls)}", "-S all")))
    tests = draw(st.lists(st.sampled_from(CONDITIONS), max_size=3, unique_by=lambda t: t[:3]))
    fields = "".join(f"-F {test} " for test in tests)
    add = draw(st.sampled_from(("-a", "-a", "-a", "-A")))
    return f"{add} {action},exit {arch}{named} {fields}{key}".strip()


@settings(
    max_examples=settings().max_examples // 5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(
    st.lists(lines(), min_size=1, max_size=9, unique=True),
    st.builds(
        OptimizeOptions, b32=st.booleans(), never_first=st.booleans(), thorough=st.booleans()
    ),
    st.integers(0, 1 << 32),
)
def test_a_random_set_is_proved_and_decides_drawn_events_alike_and_no_call_pays_more(
    drawn: list[str], options: OptimizeOptions, seed: int
) -> None:
    originals = tuple(replace(rule, source=None) for rule in rules(*drawn))
    try:
        check_distinct(originals)
    except DuplicateError:
        assume(False)  # noqa: FBT003  (hypothesis' own)
    found = optimise(originals, CONSTANTS, general(), options)
    assert found.proof.equal, found.proof.reason
    in_front = [line.rule for line in found.lines if never.NEVER_FIRST in line.done]
    for call, before in found.before.items():
        if not in_front:
            assert found.after[call] <= before + 1e-6
    drawing = Drawing((*originals, *found.rules), Random(seed))  # noqa: S311  (no secret)
    for _ in range(DRAWN):
        event = drawing.event()
        if event.arch == "b32" and not options.b32:
            continue
        if options.never_first:
            event = replace(event, raised=False)
        a = decide(load(originals, drawing.files), event)
        b = decide(load(found.rules, drawing.files), event)
        assert options.relation.agree(a, b), (event, texts(found))
        if not options.never_first:
            assert a.decision == b.decision or not (a.recorded or b.recorded)


@pytest.mark.parametrize("never_first", [False, True])
def test_the_output_is_the_same_each_time(*, never_first: bool) -> None:
    drawn = (
        "-a always,exit -F dir=/etc/d -F perm=wa -k d",
        "-a always,exit -F arch=b64 -S chmod -F auid>=1000 -k perm",
        "-a always,exit -F arch=b64 -S chown -F auid>=1000 -k perm",
    )
    first, second = (made(*drawn, never_first=never_first) for _ in range(2))
    assert first.lines == second.lines
