"""The price of a control in words."""

from __future__ import annotations

from dataclasses import replace

from hardcost.model.finding.price import CallPrice, ControlPrice, KernelPrice, PriceWithin
from hardcost.model.workload import Workload
from hardcost.show.prices import SHOWN, answer_of, words_of


def call(metric: str, cost: float, base: float = 1000.0, first: float | None = None) -> CallPrice:
    return CallPrice(
        workload=Workload("syscalls"),
        metric=metric,
        unit="insn/op",
        base=base,
        cost=cost,
        low=cost,
        high=cost,
        first=first,
    )


def on(kernel: str, *calls: CallPrice, free: int = 30) -> KernelPrice:
    return KernelPrice(
        kernel=kernel,
        known="measured",
        calls=calls,
        free=free,
        against="a small guest",
        date="2026-12-01",
    )


def program(share: float, width: float, name: str = "copy") -> CallPrice:
    low, high = (1e6 * (share + end * width) for end in (-1, 1))
    return CallPrice(
        workload=Workload("filecopy"),
        metric=name,
        unit="insn",
        base=1e6,
        cost=1e6 * share,
        low=low,
        high=high,
    )


def start(workload: str, metric: str, cost: float, base: float) -> CallPrice:
    return CallPrice(
        workload=Workload(workload),
        metric=metric,
        unit="bytes" if workload == "memory" else "insn",
        base=base,
        cost=cost,
        low=cost,
        high=cost,
    )


ONE = ControlPrice(
    control="a=1",
    what="boot parameter",
    protects="Clears it.",
    demanded_by=("A", "B", "C", "D", "E"),
    kernels=(on("6.1.0-57-amd64", call("open", 50.0)), on("6.12.1-amd64", call("fork", -20.0))),
    measure="hardcost bill --boot a=1",
)


def test_a_price_has_a_column_for_each_kernel() -> None:
    said = words_of(ONE)
    assert said.title == "a=1, boot parameter: adds up to 5.0% to a call (open)"
    assert said.about == ("Clears it.", "Asked for by A; B; C; D and 1 more.")
    assert said.rows == (
        ("adds to", "Linux 6.1", "Linux 6.12"),
        ("open", "+50 (+5.0%)", "0"),
        ("fork", "0", "-20 (-2.0%)"),
    )
    assert said.known[0] == "Nothing to 30 other calls."
    assert "which are not time" in said.known[2]
    assert said.known[-1] == "To measure it on your kernel: hardcost bill --boot a=1"


def test_what_costs_nothing_is_called_free() -> None:
    free = replace(ONE, kernels=(on("6.1.0-57-amd64"), on("6.12.1-amd64")))
    assert answer_of(free) == "free, it adds nothing to any of 30 calls"
    refusing = replace(ONE, kernels=(on("6.1.0", call("userns", -990.0)),))
    assert answer_of(refusing) == (
        "free, it adds nothing to any of 31 calls, but userns can fail with it"
    )
    assert any("userns takes so much less" in line for line in words_of(refusing).known)


def test_what_programs_do_has_intervals() -> None:
    """A kernel whose list has no programs has no number; what may be chance is no row."""
    programs = (program(0.03, 0.002), program(0.001, 0.004, "remove"))
    first, second = ONE.kernels
    said = words_of(replace(ONE, kernels=(replace(first, programs=programs), second)))
    assert said.rows[-1] == ("copying files", "+3.0% ±0.2%", "-")
    assert "No clear change to removing files (±0.4%)." in said.known
    assert said.title.endswith(
        "adds up to 5.0% to a call (open) and 3.0% to what programs do (copying files)"
    )


def test_what_slows_programs_alone_is_not_free() -> None:
    slow = replace(on("6.1.0"), programs=(program(0.03, 0.002),))
    assert answer_of(replace(ONE, kernels=(slow,))) == (
        "adds up to 3.0% to what programs do (copying files)"
    )
    noisy = replace(on("6.1.0"), programs=(program(0.03, 0.02),))
    said = words_of(replace(ONE, kernels=(noisy,)))
    assert "free, it adds nothing to any of 30 calls" in said.title
    assert "No clear change to copying files (±2.0%)." in said.known


def test_a_kernel_without_a_price_says_so_once() -> None:
    first, second = ONE.kernels
    why = "the kernel does not know it"
    unpriced = replace(second, known=None, why=why, missing={"boot": why, "syscalls": why})
    said = words_of(replace(ONE, kernels=(first, unpriced))).known
    assert [line for line in said if why in line] == [f"No price on Linux 6.12: {why}."]
    part = replace(first, missing={"boot": "it booted cold"})
    assert (
        "Not known on Linux 6.1: boot: it booted cold."
        in words_of(replace(ONE, kernels=(part,))).known
    )


def test_boot_and_memory_have_rows_where_they_change() -> None:
    parts = (
        start("boot", "until-ready", 72.7e6, 743e6),
        start("memory", "slab", 4 << 20, 16 << 20),
        start("memory", "static", 0.0, 64 << 20),
    )
    first, second = ONE.kernels
    said = words_of(replace(ONE, kernels=(replace(first, start=parts), second)))
    assert said.rows[-2:] == (
        ("the boot", "+72.7 million (+9.8%)", "-"),
        ("slab memory", "+4.0 MiB (+25.0%)", "-"),
    )
    assert any("until the guest is ready" in line for line in said.known)
    alone = replace(ONE, kernels=(replace(on("6.1.0"), start=parts),))
    assert answer_of(alone) == "adds nothing to any of 30 calls, but 25.0% to slab memory"
    none = replace(ONE, kernels=(replace(on("6.1.0"), start=parts[2:]),))
    assert answer_of(none) == "free, it adds nothing to any of 30 calls"
    assert not any("until the guest" in line for line in words_of(none).known)


def test_a_price_within_a_profile_is_said_beside_that_alone() -> None:
    def inside(*calls: CallPrice) -> tuple[str, ...]:
        within = (PriceWithin("stig", 1, calls),)
        kernel = replace(ONE.kernels[0], within=within)
        return tuple(it for it in words_of(replace(ONE, kernels=(kernel,))).known if "stig" in it)

    start_of = "Within the settings of stig (Linux 6.1) it adds"
    assert inside() == (f"{start_of} as much to these calls as by itself.",)
    (dearer,) = inside(call("open", 70.0))
    assert dearer == f"{start_of} +70 instructions to open, where by itself it adds +50."


def test_a_cost_that_no_count_shows_is_not_known() -> None:
    unknown = replace(
        ONE,
        uncounted="its cost is in threads: a lower bound",
        kernels=(on("6.1.0", call("x", -3)),),
    )
    assert answer_of(unknown) == "cost not known, its cost is in threads"
    said = words_of(unknown)
    assert said.rows == ()
    slab = replace(unknown.kernels[0], start=(start("memory", "slab", 4 << 20, 16 << 20),))
    assert words_of(replace(unknown, kernels=(slab,))).rows[1:] == (
        ("slab memory", "+4.0 MiB (+25.0%)"),
    )
    assert not any("Measured" in line or "Caution" in line for line in said.known)
    bounded = words_of(replace(unknown, kernels=ONE.kernels))
    assert bounded.title == (
        "a=1, boot parameter: adds up to 5.0% to a call (open), and more that no count shows"
    )
    assert "Caution: its cost is in threads: a lower bound." in bounded.known


def test_what_has_no_price_says_why() -> None:
    assert answer_of(replace(ONE, why="it is for arm64", kernels=())) == (
        "no price, it is for arm64"
    )
    lacking = KernelPrice(kernel="6.1.0", known=None, why="the kernel has none")
    assert answer_of(replace(ONE, kernels=(lacking,))) == "no price, the kernel has none"


def test_a_kernel_without_a_price_is_said_beside_one_that_has_it() -> None:
    lacking = KernelPrice(kernel="6.1.0", known=None, why="the kernel has none")
    said = words_of(replace(ONE, kernels=(lacking, ONE.kernels[1])))
    assert said.rows[0] == ("adds to", "Linux 6.12")
    assert "No price on Linux 6.1: the kernel has none." in said.known


def test_only_the_dearest_calls_are_shown_unless_all_are_asked_for() -> None:
    many = replace(ONE, kernels=(on("6.1.0", *(call(f"c{n}", n + 1.0) for n in range(20))),))
    assert len(words_of(many).rows) == SHOWN + 1
    assert words_of(many).known[0] == "8 more calls by up to 0.8% (--all shows them)."
    assert len(words_of(many, whole=True).rows) == 21


def test_a_default_names_what_switched_it_off() -> None:
    default = replace(ONE.kernels[0], without="a=0")
    said = words_of(replace(ONE, kernels=(default,), default="kernel"))
    assert "The kernel's default: every system has it already." in said.about
    assert any("Measured: what a=0 saves" in line for line in said.known)


def test_a_rule_has_a_column_for_what_the_first_one_costs() -> None:
    rule = replace(
        ONE, kernels=(replace(on("6.1.0", call("open", 3.25, first=1578.0)), known="predicted"),)
    )
    said = words_of(rule)
    assert said.rows == (
        ("adds to", "Linux 6.1", "the first rule"),
        ("open", "+3.2 (+0.3%)", "+1,578"),
    )
    assert said.known[1].startswith("Predicted, from constants measured on Linux 6.1.0")


def test_a_part_that_was_not_measured_is_named() -> None:
    part = replace(ONE.kernels[0], missing={"syscalls-more": "the guest died"})
    said = words_of(replace(ONE, kernels=(part,)))
    assert "Not known on Linux 6.1: syscalls-more: the guest died." in said.known
