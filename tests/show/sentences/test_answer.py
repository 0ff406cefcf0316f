from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from hardcost.analysis.change.comparison import compare_runs
from hardcost.model.finding.bill import Advice, Bill, Item, Itemised, Story, Sum, Total
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.study import StudyFinding
from hardcost.model.workload import MetricId, metric_of
from hardcost.show.sentences.answer import answer, baseline_words
from hardcost.show.sentences.run import compare_sentences
from hardcost.show.tables.bill import bill_table
from hardcost.show.tables.first_screen import bill_screen
from hardcost.show.tables.layout import render
from hardcost.show.tables.run import run_table
from tests.show.bill_findings import billed, side_by_side
from tests.show.guests import cell, failed, filecopy, selinux

RULE = "-w /etc/{} -p wa -k identity"
INSN = "(instrument insn: instructions executed, not time)"


def item(control: str, metric: str, cost: float, spread: float = 0.0) -> Item:
    """Return a rule's item, its interval `spread` to both sides."""
    low, high = cost - spread, cost + spread
    return Item(control, metric_of(metric), "insn/op", cost, low, high, cost / 1000, cost, 0)


def bill_of(
    items: Sequence[Item], metrics: Sequence[str] = ("open",), unit: str = "insn/op"
) -> Itemised:
    """Return a bill of these items, over a baseline of 1000."""
    costs = {metric: sum(it.cost for it in items if str(it.metric) == metric) for metric in metrics}
    return Itemised(
        profile="mine",
        profile_title="My rules",
        totals=tuple(
            Total(metric_of(m), unit, 1000.0, 1000.0 + cost, cost) for m, cost in costs.items()
        ),
        items=tuple(replace(it, unit=unit) for it in items),
        rest=tuple(Sum(metric_of(metric), 0.0) for metric in metrics),
        interaction=tuple(Sum(metric_of(metric), 0.0) for metric in metrics),
    )


def finding_of(bill: Itemised, cells: Sequence[Cell] = (), instrument: str = "insn") -> Bill:
    return billed(bill, study="bill-mine", title="My rules", instrument=instrument, cells=cells)


def audit_off(metric: str = "open") -> Cell:
    return cell(("audit-off", "syscalls", metric), 900.0, ("baseline", 1000.0), "insn/op")


def numbers(sentence: str) -> list[str]:
    """Return the numbers of a sentence; those within names and rules are none."""
    without_rules = re.sub(r"(: | is )-[aw] .*|rules=\d+|concurrency=\d+|\w+-\d+", "", sentence)
    return re.findall(r"[\d,]*\d(?:\.\d+)?", without_rules)


DEAR, CHEAP, FREE = RULE.format("shadow"), RULE.format("group"), RULE.format("hosts")


def three() -> Itemised:
    return bill_of(
        [item(DEAR, "open", 1204.0), item(CHEAP, "open", 100.0), item(FREE, "open", 0.0)]
    )


def test_a_bill_begins_with_its_cost_its_dearest_control_and_what_is_free() -> None:
    said = answer(finding_of(three(), [audit_off()]))
    assert said.sentences == (
        (
            "mine makes open 2.30 times as expensive (+1,304 instructions per operation), "
            f"compared to a system with audit on and no rules {INSN}."
        ),
        (f"The most expensive rule costs 1,204 of the 1,304 instructions on open: {DEAR}."),
        (
            "1 of 3 rules is free here: while the others are on, its cost is not"
            " distinguishable from 0."
        ),
    )
    assert next((one.number, one.name, one.part) for one in said.dearest) == (1, DEAR, 1.0)
    assert [one.name for one in said.dearest] == [DEAR, CHEAP]
    assert said.free == ((3, FREE),)


def test_terminal_and_page_begin_with_the_same_sentences(bill: Bill, run: StudyFinding) -> None:
    for finding, shown in (
        (bill, bill_table(bill)),
        (bill, bill_screen(bill)),
        (run, run_table(run)),
    ):
        text = " ".join(render(shown, 120).split())
        assert text.startswith(
            " ".join(" ".join(answer(finding).sentences).split()).replace("…", "...")
        )


@pytest.mark.parametrize("finding", [filecopy(), selinux(), failed(filecopy(), "none")])
def test_no_sentence_has_more_than_three_numbers(finding: Finding, bill: Bill) -> None:
    for said in (answer(finding), answer(bill), answer(finding_of(three()))):
        assert said.sentences
        for sentence in said.sentences:
            assert len(numbers(sentence)) <= 3, sentence


def test_a_cost_whose_interval_reaches_below_0_is_free() -> None:
    bill = bill_of([item(DEAR, "open", 500.0, 20.0), item(CHEAP, "open", 10.0, 11.0)])
    assert answer(finding_of(bill)).free == ((2, CHEAP),)


def test_what_saves_on_one_metric_and_costs_on_none_is_free() -> None:
    items = [item(DEAR, "open", 5.0), item(FREE, "open", 0.0), item(FREE, "null", -7.0)]
    assert answer(finding_of(bill_of(items, ("open", "null")))).free == ((2, FREE),)


def test_what_instructions_do_not_show_is_not_called_free() -> None:
    free, dear = item("page tables", "open", 0.0), item(DEAR, "open", 5.0)
    said = answer(finding_of(bill_of([dear, replace(free, caveat="no caches are modelled")])))
    assert said.free == ()
    assert (
        "The numbers do not show what 1 control may cost: no caches are modelled." in said.sentences
    )
    assert not any("distinguishable" in sentence for sentence in said.sentences)
    shown = render(bill_table(finding_of(bill_of([dear, replace(free, caveat="no caches")]))), 200)
    assert "no caches" in shown


def test_a_control_that_is_in_the_rest_on_every_metric_is_free_and_counted() -> None:
    bill = replace(bill_of([item(DEAR, "open", 500.0)]), controls=(FREE, DEAR))
    said = answer(finding_of(bill))
    assert said.free == ((2, FREE),)
    free = (
        "1 of 2 rules is free here: while the others are on, its cost is not"
        " distinguishable from 0."
    )
    assert said.sentences[-1] == free
    shown = render(bill_table(finding_of(bill)), 120)
    assert "2 controls" in shown
    assert re.search(rf"\(~0\) .*{FREE}", shown)
    unshown = answer(finding_of(replace(bill, unshown=(FREE,))))
    assert unshown.free == ()
    assert unshown.sentences[-1].startswith("The numbers do not show what 1 rule may cost")


def test_a_total_that_placebos_reach_is_nothing() -> None:
    bill = bill_of([item(DEAR, "open", 5.0)])
    (total,) = bill.totals
    said = answer(finding_of(replace(bill, totals=(replace(total, least=6.0),))))
    assert said.sentences[0] == (f"mine has no cost distinguishable from 0 on open {INSN}.")


def test_of_many_calls_the_average_and_the_worst_are_named() -> None:
    metrics = ("null", "open", "chmod")
    items = [
        item(DEAR, metric, cost) for metric, cost in zip(metrics, (100, 500, 9000), strict=True)
    ]
    first, second, third, *_ = answer(finding_of(bill_of(items, metrics))).sentences
    assert first.startswith("mine makes the average system call 1.57 times as expensive (+")
    assert second.startswith("The average is over 3 measured calls, weighted by how often")
    assert third == (
        "mine makes chmod 10.0 times as expensive (+9,000 instructions per operation); 9,000 of"
        f" that by {DEAR}."
    )


def test_the_users_call_and_mix_replace_the_assumed_average() -> None:
    metrics = ("null", "open", "chmod")
    costs = {DEAR: (100, 500, 9000), CHEAP: (0, 600, 0)}
    items = [
        item(who, metric, cost)
        for who, own in costs.items()
        for metric, cost in zip(metrics, own, strict=True)
        if cost
    ]
    bill = bill_of(items, metrics)
    called = answer(finding_of(replace(bill, weights={MetricId("open"): 1.0})))
    assert called.sentences[0].startswith("mine makes open 2.10 times as expensive (+1,100")
    assert "average" not in " ".join(called.sentences)
    assert [one.name for one in called.dearest] == [CHEAP, DEAR]
    mixed = answer(
        finding_of(
            replace(bill, weights={MetricId("null"): 1.0, MetricId("chmod"): 1.0}, covered=0.5)
        )
    )
    assert mixed.sentences[0].startswith("mine makes the average system call 5.55 times")
    assert mixed.sentences[1] == (
        "The average is over 2 measured calls, weighted by your histogram; they are 50.0% of its"
        " calls."
    )
    assert mixed.dearest[0].name == DEAR


def test_noise_makes_no_sentence() -> None:
    items = [item(DEAR, "wall", 59.0)]
    bill = bill_of(items, ("user", "system", "wall"), "insn")
    noisy = replace(bill.totals[0], cost=78.0, with_profile=1078.0, least=250.0)
    program = cell(("profile", "build files=4", "wall"), 1059.0, ("baseline", 1000.0), "insn")
    found = finding_of(replace(bill, totals=(noisy, *bill.totals[1:])), [program])
    said = answer(found)
    assert said.sentences[0].startswith(
        "mine makes the workload 'build files=4' execute 5.9% more instructions (+59 instructions)"
    )
    assert "user" not in " ".join(said.sentences)
    every = tuple(replace(one, least=250.0) for one in bill.totals)
    nothing = answer(finding_of(replace(bill, totals=every))).sentences[0]
    assert nothing.startswith("mine has no cost distinguishable from 0 on any of 3 metrics")


def test_the_users_own_program_executes_more_instructions() -> None:
    program = cell(("profile", "command run=x", "wall"), 1400.0, ("baseline", 1000.0), "insn")
    bill = bill_of([item(DEAR, "wall", 400.0)], ("wall",), "insn")
    first = answer(finding_of(bill, [program])).sentences[0]
    assert first.startswith("mine makes your program execute 40.0% more instructions (+400")


def test_no_control_is_dear_and_free() -> None:
    said = answer(finding_of(bill_of([item(DEAR, "open", 500.0, 600), item(CHEAP, "open", 90.0)])))
    assert [one.name for one in said.dearest] == [CHEAP]
    assert [name for _, name in said.free] == [DEAR]


def test_a_profile_of_one_control_has_no_dearest() -> None:
    costly = answer(finding_of(bill_of([item(DEAR, "open", 5.0)])))
    assert costly.sentences == (
        (
            "mine makes open 0.5% more expensive (+5 instructions per operation), "
            f"compared to a system with none of these controls {INSN}."
        ),
    )
    free = answer(finding_of(bill_of([item(DEAR, "open", 0.0)])))
    assert free.sentences == (
        f"mine has no cost distinguishable from 0 on open {INSN}.",
        "Its only rule has no cost distinguishable from 0.",
    )


def test_a_profile_without_any_cost_says_so() -> None:
    items = [item(name, metric, 0.0) for name in (DEAR, CHEAP) for metric in ("null", "open")]
    said = answer(finding_of(bill_of(items, ("null", "open"))))
    assert said.sentences == (
        f"mine has no cost distinguishable from 0 on any of 2 metrics {INSN}.",
        "None of its 2 rules costs anything distinguishable from 0 while the others are on.",
    )
    assert said.dearest == ()
    assert len(said.free) == 2


def test_a_bill_without_metrics_says_that_nothing_was_measured() -> None:
    empty = finding_of(
        Itemised(profile="mine", profile_title="", totals=(), items=(), rest=(), interaction=())
    )
    assert answer(empty).sentences == (
        "No cost of mine was measured (instrument insn: instructions executed, not time).",
    )


def timed(low: float, high: float) -> Bill:
    whole = cell(("profile", "syscalls", "open"), 2100.0, ("baseline", 1000.0), "ns/op")
    whole = replace(whole, ratio_low=low, ratio_high=high)
    return finding_of(bill_of([item(DEAR, "open", 1100.0, 50)], unit="ns/op"), [whole], "time")


def test_times_take_long_and_have_their_interval() -> None:
    first = answer(timed(1.9, 2.3)).sentences[0]
    assert first.startswith("mine makes open take 2.10 times as long (95% interval 1.90 to 2.30")
    assert "(instrument time)" in first
    assert "instruction" not in first
    assert answer(timed(0.9, 2.3)).sentences[0].startswith("mine has no cost distinguishable")


def test_instructions_are_never_said_to_be_time(bill: Bill, run: StudyFinding) -> None:
    for finding in (bill, run, filecopy()):
        text = " ".join(answer(finding).sentences)
        assert not re.search(r"\b(long|longer|slow|slower|fast|faster|seconds?|ns)\b", text)
        assert "instrument insn" in text


def test_several_workloads_are_named_with_their_metrics() -> None:
    items = [item(DEAR, "syscalls open", 9.0), item(DEAR, "filecopy wall", 4000.0)]
    bill = bill_of(items, ("syscalls open", "filecopy wall"))
    first, second, *_ = answer(finding_of(bill)).sentences
    assert first.startswith("mine makes 'syscalls open' 0.9% more expensive")
    assert (
        second == "mine makes filecopy execute 5.00 times as many instructions (+4,000 ins"
        "tructions per operation); 4,000 of that by -w /etc/shadow -p wa -k identity."
    )


def test_a_rate_falls() -> None:
    bill = bill_of([item(DEAR, "ab", -600.0)], ("ab",), "requests/s")
    first = answer(finding_of(bill, instrument="time")).sentences[0]
    assert first.startswith("mine lowers ab to 40.0% of the baseline's (-600 requests/s)")


def test_a_budget_is_answered_first() -> None:
    totals = (Total(MetricId("open"), "insn/op", 1000.0, 1400.0, 400.0),)
    finding = replace(
        finding_of(three()),
        advice=Advice(budget=0.5, leave_out=(DEAR,), kept=2, totals=totals, within=True),
    )
    assert answer(finding).sentences[0] == (
        "To keep within 50.0% on every metric, leave out 1 of 3 controls. "
        "Measured with what remains: at most 40.0% more, on open."
    )
    shown = render(bill_table(finding), 120)
    assert shown.index("leave out  ") < shown.index("Bill for mine")


def test_a_search_names_its_culprits_and_calls_nothing_free() -> None:
    search = Story("Two of three.", (), (), 7, 0.01, adds_up=True)
    said = answer(replace(finding_of(bill_of([item(DEAR, "open", 900.0)])), search=search))
    assert said.sentences[1:] == (
        f"The search confirmed 1 culprit: '{DEAR}'.",
        (
            "On open the first makes +900 instructions; everything but the culprits makes 0"
            " together."
        ),
    )
    assert said.free == ()
    nothing = answer(replace(finding_of(bill_of([])), search=search))
    assert nothing.sentences[1] == "The search confirmed no single control as the cause."


def test_the_baseline_is_said_in_words() -> None:
    assert baseline_words(finding_of(three(), [audit_off()])) == "audit on and no rules"
    assert baseline_words(finding_of(three())) == "none of these controls"
    given = replace(three(), compared_with="the system as it is")
    assert baseline_words(finding_of(given, [audit_off()])) == "the system as it is"


def test_a_run_begins_with_its_dearest_configuration(run: StudyFinding) -> None:
    said = answer(run)
    assert said.sentences == (
        (
            "'rules=160 catch-all', the most expensive of 36 configurations, is 2.68 times as "
            "expensive as the baseline rules=0 (geometric mean of 28 metrics, instrument insn: "
            "instructions executed, not time)."
        ),
        "It costs most on null: 10.3 times the baseline (+3,351 instructions per operation).",
        (
            "1 of 36 configurations is not distinguishable from the baseline on any metric: "
            "'kernel=flat rules=0'."
        ),
        (
            "From rules=1 to rules=160, one more of rules adds 19 instructions per "
            "operation to the median metric, on average; along 'kernel=flat rules=N' "
            "and 'kernel=flat rules=N catch-all' it adds 0."
        ),
    )
    assert said.dearest[0].cost == "2.68 times the baseline rules=0"
    assert said.free == ((0, "kernel=flat rules=0"),)


def test_whole_programs_are_compared_by_their_whole() -> None:
    assert answer(filecopy()).sentences[0] == (
        "stig-full, the most expensive of 4 configurations, is 30.0 times as expensive as the "
        "baseline none "
        "(geometric mean of wall in 4 workloads, instrument insn: instructions executed, not time)."
    )


def test_failures_are_said_first() -> None:
    some = answer(failed(filecopy(), "audit")).sentences
    assert some[0] == "4 trials failed; the reasons are below."
    every = answer(failed(filecopy(), "none")).sentences
    assert every == (
        "4 trials failed, and the rest has no baseline to be compared with; the reasons are below.",
    )


def test_a_run_of_one_configuration_compares_nothing() -> None:
    only = replace(filecopy(), cells=filecopy().cells[:1])
    assert answer(only).sentences == (
        "No two configurations were measured, so there is nothing to compare.",
    )


def test_a_comparison_begins_with_how_many_cells_differ(run: StudyFinding) -> None:
    same = compare_sentences(compare_runs(run, run))
    assert same == ["Nothing changed beyond its interval in 1,036 numbers (instrument insn)."]
    first, *others = run.cells
    more = replace(first, value=first.value * 2, low=first.low * 2, high=first.high * 2)
    later = replace(run, cells=(more, *others))
    assert compare_sentences(compare_runs(run, later)) == [
        "1 of 1,036 numbers differs by more than its interval (instrument insn).",
        (
            "The largest change is null of syscalls under audit-off: 2.00 times the first run "
            "(+209 instructions per operation)."
        ),
    ]
    other = replace(run, environment={"qemu": "9"})
    assert compare_sentences(compare_runs(run, other))[0].startswith("The two runs are not")


def test_ratios_that_are_unknown_are_not_compared(run: StudyFinding) -> None:
    unknown = replace(run.cells[0], value=0.0, low=0.0, high=0.0)
    a = replace(run, cells=(unknown,))
    assert math.isnan(compare_runs(a, a).cells[0].ratio)
    assert compare_sentences(compare_runs(a, a)) == [
        "Nothing changed beyond its interval in 1 number (instrument insn)."
    ]


def test_a_cost_of_nothing_says_whose_default_the_only_control_is() -> None:
    free = replace(item("init_on_alloc=1", "open", 0.0), default="distribution")
    said = answer(finding_of(bill_of([free]))).sentences
    assert "It is the default of the distribution anyway." in said


def test_two_profiles_side_by_side_say_which_costs_more() -> None:
    cheap, dear = (
        replace(finding_of(bill_of([item(DEAR, "open", cost)])), run=str(cost))
        for cost in (500.0, 900.0)
    )
    other = replace(dear, profile="other")
    both = side_by_side(cheap, other)
    assert "other costs most on open: 400 instructions more than mine." in answer(both).sentences
