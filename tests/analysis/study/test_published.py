from __future__ import annotations

import pytest

from hardcost.analysis.study.published import PublishedRange, published_figures, read
from hardcost.errors import InputError
from hardcost.model.workload import workload_of

NAME = "audit-rule-scaling-2021"


def test_the_scaling_of_audit_rules_is_known() -> None:
    before, after, *_ = published_figures(NAME).series
    assert before.metrics == ("null", "read", "write", "stat", "fstat", "open")
    assert list(before.rows) == [f"rules={n}" for n in (0, 10, 20, 30, 40, 50, 100, 160)]
    assert before.rows["rules=160"]["open"] == 155.40
    assert before.ratio("rules=160", "null") == pytest.approx(5.50 / 1.87)
    assert after.ratio("rules=160", "null") == pytest.approx(1.92 / 1.81)
    assert before.unit == after.unit == "ms per 1000 calls"


def test_a_row_names_the_configuration_of_ours_beside_it() -> None:
    before, after, *_ = published_figures(NAME).series
    assert before.configuration("rules=10") == "rules=10"
    assert after.configuration("rules=10") == "kernel=flat rules=10"


def test_an_unknown_name_is_answered_with_those_known() -> None:
    with pytest.raises(InputError) as caught:
        published_figures("nonsense")
    assert caught.value.problems[0].hint == (
        f"there are: {NAME}, cis-audit-2019, kconfig-hardening-2020, selinux-rhel5-2007, "
        "stig-rhel9-2024"
    )


def test_every_fault_of_a_file_is_reported() -> None:
    text = """
    title = "t"
    source = "s"
    typo = 1
    [[series]]
    name = "n"
    unit = "ms"
    baseline = "a"
    rows = { a = { x = 0 } }
    """
    with pytest.raises(InputError) as caught:
        read(text, "f.toml")
    messages = [problem.message for problem in caught.value.problems]
    assert any(message.startswith("workload: ") for message in messages)
    assert any(message.startswith("typo: ") for message in messages)
    assert any(message.startswith("series.0.rows.a.x: ") for message in messages)
    assert str(caught.value.problems[0].place) == "f.toml"


@pytest.mark.parametrize(
    ("rows", "fault"),
    [("{ b = { x = 1 } }", "baseline"), ("{ a = { x = 1 }, b = { y = 1 } }", "other metrics")],
)
def test_a_series_is_complete(rows: str, fault: str) -> None:
    text = f"""
    title = "t"
    source = "s"
    workload = "w"
    [[series]]
    name = "n"
    unit = "ms"
    baseline = "a"
    rows = {rows}
    """
    with pytest.raises(InputError, match=fault):
        read(text, "f.toml")


def test_what_is_not_toml_is_refused_with_its_place() -> None:
    with pytest.raises(InputError, match="not TOML"):
        read("=", "f.toml")


def test_of_a_rate_a_ratio_is_how_much_slower() -> None:
    bench = next(
        it
        for it in published_figures("cis-audit-2019").series
        if it.name == "UnixBench, 16 CPUs, 1 copy"
    )
    assert bench.ratio("cis-rules", "system-call") == pytest.approx(2688394.9 / 760775.0)
    assert bench.unit_of("whetstone") == "MWIPS"
    assert bench.unit_of("pipe") == "loops/s"


@pytest.mark.parametrize(
    ("cpus", "workload", "is_beside"),
    [
        (1, "unixbench", True),
        (1, "unixbench copies=1 tests=pipe", True),
        (1, "unixbench copies=cpus", False),
        (1, "fio", False),
        (16, "unixbench", False),
        (16, "unixbench tests=pipe copies=cpus", True),
        (16, "unixbench copies=2", True),
        (16, "unixbench copies=1", False),
    ],
)
def test_a_series_stands_beside_the_workload_that_it_names(
    cpus: int, workload: str, *, is_beside: bool
) -> None:
    copies = "1 copy" if cpus == 1 else f"{cpus} copies"
    bench = next(
        it
        for it in published_figures("cis-audit-2019").series
        if it.name == f"UnixBench, 16 CPUs, {copies}"
    )
    assert bench.applies_to(workload_of(workload)) == is_beside


def test_a_series_without_workloads_stands_beside_any() -> None:
    assert published_figures(NAME).series[0].applies_to(workload_of("syscalls calls=null"))


def test_a_source_may_give_ranges_alone() -> None:
    figures = published_figures("stig-rhel9-2024")
    (ranges,) = figures.ranges
    assert figures.series == ()
    assert ranges.metrics == ("wall", "cpu")
    assert ranges.rows["audit"]["wall"] == PublishedRange(low=1.5, high=6.5)
    assert ranges.rows["stig-full"]["cpu"] == PublishedRange(high=5.8)
    assert ranges.parts("cpu") == ("user", "system")
    assert ranges.parts("wall") == ("wall",)


def test_a_mean_is_a_percentage_or_two_totals() -> None:
    selinux, *_ = published_figures("selinux-rhel5-2007").mean
    assert selinux.ratio == pytest.approx(1.06)
    many, _ = published_figures("cis-audit-2019").mean
    assert many.ratio == pytest.approx(6810.4 / 5969.6)


def test_the_kernel_options_of_three_vendors_are_known() -> None:
    options = published_figures("cis-audit-2019").kernel_config
    assert options["columns"] == ("CentOS 7.6", "Amazon", "Aliyun before")
    assert options["CONFIG_IMA"] == ("y", "y", "unset")
    assert len(options) == 14


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ('[[mean]]\nwhat = "w"\nconfiguration = "b"\nbaseline = "a"', "either percent"),
        (
            '[[mean]]\nwhat = "w"\nconfiguration = "b"\nbaseline = "a"\npercent = 1\nafter = 2',
            "either percent",
        ),
        (
            '[[ranges]]\nname = "n"\nbaseline = "a"\nrows = { b = { x = { low = 2, high = 1 } } }',
            "low is above high",
        ),
    ],
)
def test_ranges_and_means_are_checked(more: str, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        read(f'title = "t"\nsource = "s"\nworkload = "w"\n{more}', "f.toml")
