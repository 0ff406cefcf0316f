"""The arithmetic of the cost model; `tests/vm/test_rules_cost.py` holds it against a kernel."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate
from auditrules.cost import events, histogram
from auditrules.cost.call_classes import Alike
from auditrules.cost.constants import Constants, ConstantsError
from auditrules.cost.idle_rules import IdleKind, waste_by_rule
from auditrules.cost.limits import unpriced_rules
from auditrules.cost.predict import Histogram, Prediction, predict, price
from auditrules.kernel.event import FileId
from auditrules.kernel.semantics import Loaded, load
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import Condition
from auditrules.model.rule import Rule
from auditrules.tables import lookup

DEBIAN = Constants.of_debian()
WALK, FIELD = DEBIAN.walk, DEBIAN.field
FILES = {"/etc/shadow": FileId(0, 1, 37), "/etc/passwd": FileId(0, 1, 38)}


def rules(*lines: str) -> Loaded:
    return load([translate(Rule(line), AS_WRITTEN) for line in lines], FILES)


def of(call: str, *lines: str) -> Prediction:
    return predict(DEBIAN, rules(*lines), events.typical(call))


def test_no_rules_cost_nothing() -> None:
    assert of("openat").total == 0


def test_rules_on_what_is_no_system_call_cost_nothing() -> None:
    lines = ("-a never,exclude -F msgtype=CWD", "-a never,user -F uid=7")
    assert of("openat", *lines).total == 0


def test_a_rule_that_does_not_name_the_call_costs_the_base_and_a_step() -> None:
    found = of("getppid", "-a always,exit -F arch=b64 -S mount -k m")
    assert found.base == DEBIAN.base["getppid"] + WALK["list"]
    assert found.walking == {0: WALK["unnamed"]}
    assert not found.recorded


def test_conditions_are_paid_for_up_to_the_first_that_fails() -> None:
    found = of("getppid", "-a always,exit -F arch=b64 -S getppid -F uid=1000 -F euid=0 -F suid=0")
    assert found.walk == WALK["enter"] + FIELD["arch"] + FIELD["uid"] + FIELD["euid"]


def test_the_order_of_conditions_changes_the_price() -> None:
    early = of("getppid", "-a always,exit -S getppid -F uid=0 -F exit=999 -F auid=1000")
    late = of("getppid", "-a always,exit -S getppid -F exit=999 -F auid=1000 -F uid=0")
    assert early.walk < late.walk


def test_rules_behind_the_one_that_matches_cost_nothing() -> None:
    found = of("getppid", "-a never,exit -S getppid", "-a always,exit -S all -F uid=0")
    assert set(found.walking) == {0}


def test_a_b32_rule_costs_the_64_bit_call_of_the_same_number() -> None:
    line = "-a always,exit -F arch=b32 -S execve"  # 11, munmap's number
    assert of("munmap", line).walk == WALK["enter"] + FIELD["arch"]
    assert of("mmap", line).walk == WALK["unnamed"]


def test_a_record_costs_what_was_measured_for_the_call_and_its_key() -> None:
    bare = of("openat", "-a always,exit -S openat")
    keyed = of("openat", "-a always,exit -S openat -k abc")
    assert bare.recording == DEBIAN.record["openat"]
    assert keyed.recording - bare.recording == pytest.approx(
        WALK["record-key"] + 3 * WALK["record-key-byte"]
    )
    assert keyed.walk - bare.walk == pytest.approx(WALK["key"] + 3 * WALK["key-byte"])


def test_a_watch_is_met_by_one_unknown_file_in_32() -> None:
    line = "-w /etc/shadow -p wa"
    assert of("getppid", line).walk == 0
    one = (WALK["enter"] + FIELD["path"]) / 32
    assert of("openat", line).walk == pytest.approx(one)
    assert of("unlink", line).walk == pytest.approx(2 * one)


def test_where_a_file_is_known_its_bucket_is_walked_exactly() -> None:
    loaded = rules("-w /etc/shadow -p wa", "-w /etc/passwd -p wa")
    event = events.typical("openat")
    (name,) = event.names
    same = dataclasses.replace(name, file=FileId(0, 2, 37 + 32))
    other = dataclasses.replace(name, file=FileId(0, 2, 40))
    met = predict(DEBIAN, loaded, dataclasses.replace(event, names=(same,)))
    unmet = predict(DEBIAN, loaded, dataclasses.replace(event, names=(other,)))
    assert met.walking == {0: WALK["enter"] + FIELD["path"]}
    assert unmet.walk == 0


def test_a_visited_file_pays_for_its_bucket_where_that_has_rules() -> None:
    constants = dataclasses.replace(DEBIAN, walk={**WALK, "bucket": 320.0})
    loaded = rules("-w /etc/shadow -p wa -k s")  # bucket 5
    event = events.typical("openat")
    (name,) = event.names
    least = DEBIAN.base["openat"]
    for file, cost in ((FileId(0, 2, 37), 320), (FileId(0, 2, 40), 0), (name.file, 10)):
        visiting = dataclasses.replace(event, names=(dataclasses.replace(name, file=file),))
        assert predict(constants, loaded, visiting).base == least + cost


def test_a_rule_on_no_task_saves_what_audit_costs() -> None:
    found = of("openat", "-a never,task", "-a always,exit -S all -k everything")
    assert found.total == -DEBIAN.idle["openat"]
    assert not found.recorded


def test_rules_whose_effect_on_cost_is_not_known_are_said_to_be_unpriced() -> None:
    assert unpriced_rules(rules("-a never,task", "-a never,task -F uid=1000")) == (1,)
    assert unpriced_rules(rules("-a always,task")) == (0,)
    assert unpriced_rules(rules("-a never,exclude -F msgtype=CWD", "-a always,exit -S mount")) == (
        0,
    )


def test_a_rule_that_names_kill_makes_signals_dearer() -> None:
    with_it = of("kill", "-a always,exit -F arch=b64 -S kill -F uid=0")
    without = of("kill", "-a always,exit -F arch=b64 -S mount -F uid=0")
    assert with_it.base - without.base == WALK["signal"]


def test_a_b32_rule_on_another_number_does_not_touch_signals_of_b64_but_counts_all_the_same() -> (
    None
):
    """`audit_signals` is one counter for both architectures."""
    with_it = of("kill", "-a always,exit -F arch=b32 -S kill -F uid=0")
    assert with_it.base == DEBIAN.base["kill"] + WALK["list"] + WALK["signal"]


def test_every_call_of_both_architectures_has_a_price() -> None:
    loaded = rules("-a always,exit -S all -F uid=0 -F dir=/etc -F perm=wa", "-w /etc/shadow -p wa")
    for arch in lookup.ARCHES:
        for name, event in events.events(arch).items():
            assert predict(DEBIAN, loaded, event).total > 0, name


def test_calls_that_were_never_measured_are_reported() -> None:
    line = "-a always,exit -F arch=b64 -S mount -k m"
    assert of("openat", line).estimated == frozenset()
    assert of("symlink", line).estimated == {"base of symlink"}


def test_a_price_is_the_sum_over_the_calls() -> None:
    loaded = rules("-a always,exit -F arch=b64 -S openat -F uid=0", "-a always,exit -S unlink")
    calls = lookup.calls("b64")
    mix: Histogram = {("b64", calls["openat"]): 3.0, ("b64", calls["unlink"]): 2.0}
    found = price(mix, Alike(DEBIAN, loaded).predict)
    openat, unlink = (predict(DEBIAN, loaded, events.typical(c)) for c in ("openat", "unlink"))
    assert found.total == pytest.approx(3 * openat.total + 2 * unlink.total)
    assert found.total == pytest.approx(found.base + found.recording + sum(found.by_rule.values()))
    assert found.per_call == pytest.approx(found.total / 5)
    assert found.recording == 2 * unlink.recording > 0


def test_operations_are_made_of_known_calls() -> None:
    for calls in events.operations().values():
        for call in calls:
            assert events.typical(call).call == lookup.calls("b64")[call]


# Constants -----------------------------------------------------------------------------------


def test_constants_come_back_from_their_own_text() -> None:
    assert Constants.from_toml(DEBIAN.to_toml()) == DEBIAN


@pytest.mark.parametrize("text", ["", "[walk]", "walk = 3", "no toml", "[walk]\ncall = 'x'"])
def test_a_text_that_holds_no_constants_is_refused(text: str) -> None:
    with pytest.raises(ConstantsError):
        Constants.from_toml(text)


def test_constants_from_before_buckets_were_measured_are_refused() -> None:
    text = DEBIAN.to_toml()
    assert Constants.from_toml(text) == DEBIAN
    with pytest.raises(ConstantsError, match="bucket"):
        Constants.from_toml(text.replace('"bucket" = 0\n', ""))


def test_shipped_constants_say_where_they_were_measured() -> None:
    assert {"kernel", "qemu", "cpu_model", "date", "unit"} <= set(DEBIAN.about)
    assert DEBIAN.about["unit"] == "instructions"


# Rules that cost in vain ---------------------------------------------------------------------


def kinds(*lines: str) -> dict[int, list[IdleKind]]:
    return {at: [one.kind for one in why] for at, why in waste_by_rule(rules(*lines)).items()}


def test_a_narrower_rule_behind_a_wider_one_is_shadowed() -> None:
    wide = "-a always,exit -F arch=b64 -S open,openat -F uid=1000"
    narrow = "-a always,exit -F arch=b64 -S openat -F auid=7 -F uid=1000 -k k"
    assert kinds(wide, narrow) == {1: [IdleKind.SHADOWED]}
    assert kinds(narrow, wide) == {}
    assert kinds(narrow, wide.replace("-a ", "-A ")) == {0: [IdleKind.SHADOWED]}


def test_a_watch_behind_a_wider_rule_is_shadowed_and_not_by_another_watch() -> None:
    wide = "-a never,exit -S all -F uid=0"
    watch = "-a always,exit -F path=/etc/shadow -F uid=0 -F perm=wa"
    assert kinds(wide, watch) == {1: [IdleKind.SHADOWED]}
    assert kinds("-a always,exit -F path=/etc/shadow -F perm=wa", watch) == {}


def test_shadowing_rules_are_those_that_comparing_each_with_each_finds() -> None:
    chance = random.Random(7)  # noqa: S311  (no secret)
    fields = [
        f"{field}{sign}{value}" for field in ("uid", "auid") for sign in "=<" for value in "012"
    ]
    found = 0
    for _ in range(60):
        lines = [
            f"-{chance.choice('aaA')} always,exit -S {chance.choice(('all', '1', '1,2', '2'))} "
            + " ".join(f"-F {one}" for one in sorted(chance.sample(fields, chance.randrange(4))))
            + f" -k {nth}"
            for nth in range(25)
        ]
        loaded = rules(*lines)
        expected = shadowed_of(loaded)
        reasons = waste_by_rule(loaded).items()
        assert {
            at: one.by for at, why in reasons for one in why if one.kind is IdleKind.SHADOWED
        } == expected
        found += len(expected)
    assert found > 100


def shadowed_of(loaded: Loaded) -> dict[int, int | None]:
    found: dict[int, int | None] = {}
    before: dict[frozenset[Condition], list[int]] = {}
    for index in sorted(range(len(loaded.rules)), key=lambda one: -loaded.priority[one]):
        rule, own = loaded.rules[index], frozenset(loaded.rules[index].conditions)
        by = [
            at
            for held, those in before.items()
            for at in those
            if held <= own and not rule.mask & ~loaded.rules[at].mask
        ]
        if by:
            found[index] = by[0]
        else:
            before.setdefault(own, []).append(index)
    return found


def test_conditions_that_exclude_each_other_never_fire() -> None:
    assert kinds("-a always,exit -S openat -F uid=0 -F uid=7") == {0: [IdleKind.CONTRADICTION]}
    assert kinds("-a always,exit -S openat -F uid>=0 -F uid=7") == {}
    # A process has several groups, and a call several files.
    assert kinds("-a always,exit -S openat -F gid=0 -F gid=7") == {}


def test_a_b32_rule_names_the_64_bit_calls_that_it_taxes() -> None:
    (reason,) = waste_by_rule(rules("-a always,exit -F arch=b32 -S execve,chmod"))[0]
    assert (reason.kind, reason.calls) == (IdleKind.FOREIGN, ("munmap", "rt_sigreturn"))


# Histograms ---------------------------------------------------------------------------------------

DATA = Path(__file__).parents[1] / "data"
STRACE = b"""\
strace: Process 12 attached
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 70.10    0.000120           2        50         3 openat
 20.00    0.000012           1        10           pread64
------ ----------- ----------- --------- --------- ----------------
100.00    0.000132           1        60         3 total
"""

PERF = b"""\

 Summary of events:

 ls (1234), 400 events, 99.0%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   openat                50      3     0.100     0.001     0.002     0.009      5.00%
   newfstat              10      0     0.010     0.001     0.001     0.002      4.00%

 sh (1235), 20 events, 1.0%

   syscall            calls    total       min       avg       max      stddev
                               (msec)    (msec)    (msec)    (msec)        (%)
   --------------- -------- --------- --------- --------- ---------     ------
   openat                 5     0.100     0.001     0.002     0.009      5.00%
"""


def counts(content: bytes) -> dict[str, float]:
    found = histogram.read(content, "f")
    return {
        lookup.call_name(arch, call) + (":32" if arch == "b32" else ""): count
        for (arch, call), count in found.items()
    }


def test_straces_table_is_read() -> None:
    assert counts(STRACE) == {"openat": 50, "pread": 10}


def test_perfs_tables_are_added_up() -> None:
    assert counts(PERF) == {"openat": 55, "fstat": 10}


BPFTRACE = b"""\
Attaching 2 probes...


@calls[0, 0, 17]: 10
@calls[0, 1, 257]: 50
@calls[0, 0, 257]: 5
@calls[1, 1, 5]: 3
@filter_ns:
[256, 512)             3 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|
@events[identity]: 7
@events[a]: 1]: 7
"""


def test_bpftraces_counts_by_call_are_read_and_its_other_maps_are_not() -> None:
    assert counts(BPFTRACE) == {"pread": 10, "openat": 55, "open:32": 3}
    assert counts(b"@calls[257]: 2\n") == {"openat": 2}
    one_liner = b"Attaching 331 probes...\n^C\n\n@[tracepoint:syscalls:sys_enter_newfstat]: 4\n"
    assert counts(one_liner) == {"fstat": 4}


def test_what_debians_bpftrace_printed_in_a_guest_is_read() -> None:
    """The exported scripts' output, bpftrace 0.17 on Debian's kernel 6.1."""
    found = counts((DATA / "bpftrace-calls.txt").read_bytes())
    assert (found["rmdir"], found["fchmodat"], found["openat"]) == (3, 3, 52)
    assert sum(found.values()) == 937
    for other in ("bpftrace-records.txt", "bpftrace-filter.txt"):
        with pytest.raises(RulesError, match="does not count any system call"):
            histogram.read((DATA / other).read_bytes(), other)


def test_counts_in_json_are_read_with_and_without_architectures() -> None:
    assert counts(b'{"openat": 3, "read": 2.5}') == {"openat": 3, "read": 2.5}
    assert counts(b'{"b64": {"openat": 3}, "b32": {"stat64": 1}}') == {"openat": 3, "stat64:32": 1}


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", 1, "does not count"),
        (b"\xff\xfe", 1, "UTF-8"),
        (b'{"openat": 3,\n "read": "x"}', 2, "'read'"),
        (b'{"openat": -1}', 1, "openat"),
        (b'{"openat": 1e99}', 1, "openat"),
        (b'{"openat": NaN}', 1, "openat"),
        (b'{"openat": 1' + b"0" * 400 + b"}", 1, "openat"),
        (b'{"openat": 1' + b"0" * 5000 + b"}", None, "a number is too long"),
        (STRACE.replace(b" 20.00", b" 20.00 1 1 " + b"9" * 5000), 5, "strace -c"),
        (PERF.replace(b"50      3", b"9" * 5000 + b" 3"), 9, "perf trace -s"),
        (b'{"openat": true}', 1, "openat"),
        (b'{"openat": 3', 1, "not JSON"),
        (b"[1]", 1, "not an object"),
        (b"[" * 100_000, 1, "nested"),
        (b'{"b64": 3}', 1, "b64"),
        (b'{"openzat": 3}', None, "openzat"),
        (b'{"open\\u001b[31m": 3}', None, "x1b"),
        (b'{"openat": 0}', None, "not count any"),
        (STRACE.replace(b" 20.00", b" oops "), 5, "strace -c"),
        (PERF.replace(b"50      3", b"oops   3"), 9, "perf trace -s"),
        (BPFTRACE.replace(b"1, 257", b"'x"), 5, "this counts no system call"),
        (BPFTRACE.replace(b"]: 50", b"]: 9999999999999999999"), 5, "syscall_257"),
        (b"Attaching 2 probes...\n\n\n", None, "not count any"),
    ],
)
def test_what_holds_no_counts_is_refused_with_its_place(
    content: bytes, line: int | None, message: str
) -> None:
    with pytest.raises(RulesError) as caught:
        histogram.read(content, "counts.txt")
    fault = caught.value.faults[0]
    assert (fault.place.file, fault.place.line) == ("counts.txt", line)
    assert message in fault.message


def test_the_mix_that_is_assumed_names_calls_that_there_are() -> None:
    assert sum(histogram.general().values()) > 1_000_000


TRACES = "-a never,filesystem -F fstype=tracefs"
QUIET = "-a always,exit -S swapoff -F uid=7"


@pytest.mark.parametrize(
    ("call", "times"), [("getppid", 0), ("stat", 1), ("link", 4), ("unlink", 2), ("rename", 5)]
)
def test_a_file_system_rule_costs_each_time_that_a_name_is_noted(call: str, times: int) -> None:
    plain, hiding, keyed = (
        predict(DEBIAN, rules(QUIET, *more), events.typical(call)).total
        for more in ((), (TRACES,), (f"{TRACES} -k key",))
    )
    assert hiding - plain == pytest.approx(38 * times)
    assert keyed - hiding == pytest.approx(8 * times)
    alone = predict(DEBIAN, rules(TRACES), events.typical(call))
    assert (alone.total, alone.unknown) == (0.0, "")


def test_what_other_lists_decide_about_is_said_not_to_be_predicted() -> None:
    modes, cwd = "-a always,exit -S chmod -k modes", "-a always,exclude -F msgtype=CWD"
    assert "exclude" in predict(DEBIAN, rules(modes, cwd), events.typical("chmod")).unknown
    assert not predict(DEBIAN, rules(modes, cwd), events.typical("stat")).unknown
    of_user = rules(QUIET, "-a never,task -F uid=1000")
    assert "task" in predict(DEBIAN, of_user, events.typical("getppid")).unknown
    assert not predict(
        DEBIAN, rules(QUIET, "-a never,task -F uid=7"), events.typical("getppid")
    ).unknown
    other = rules(QUIET, "-a never,filesystem -F fstype!=tracefs")
    assert "filesystem" in predict(DEBIAN, other, events.typical("stat")).unknown
    assert not predict(DEBIAN, other, events.typical("getppid")).unknown


def test_a_price_says_which_calls_it_does_not_know() -> None:
    loaded = rules("-a always,exit -S chmod", "-a always,exclude -F msgtype=CWD")
    chmod, stat = (("b64", lookup.calls("b64")[name]) for name in ("chmod", "stat"))
    mix: Histogram = {chmod: 1.0, stat: 1.0}  # type: ignore[dict-item]
    assert set(price(mix, Alike(DEBIAN, loaded).predict).unknown) == {chmod}


def test_a_rule_of_any_list_that_names_a_signal_call_has_receivers_noted() -> None:
    # `audit_signals` counts rules that `audit_n_rules` does not: auditctl gives these all calls.
    for line in (TRACES, "-a always,exclude -F msgtype=CWD", "-a never,user -F uid=33"):
        plain = predict(DEBIAN, rules(QUIET), events.typical("kill")).total
        assert predict(DEBIAN, rules(QUIET, line), events.typical("kill")).total - plain == 114
        assert predict(DEBIAN, rules(line), events.typical("kill")).total == 0


@pytest.mark.parametrize(
    ("test", "measured"),
    [
        ("gid=7", 15),
        ("gid!=7", 62),
        ("gid!=1000", -7),
        ("gid>7777", -10),
        ("gid<7777", 46),
        ("egid!=7", 60),
        ("egid<=7", -9),
        ("sgid=7", -4),
        ("sgid!=7", 39),
        ("sgid>=7777", -10),
    ],
)
def test_each_operator_on_a_group_costs_what_a_guest_measured(test: str, measured: int) -> None:
    # Beside `-F uid=7`, as the first test, on getppid under Linux 6.1.
    first = "-a always,exit -S getppid -F "
    cost = of("getppid", f"{first}{test} -F uid=7").total - of("getppid", f"{first}uid=7").total
    assert cost == measured
