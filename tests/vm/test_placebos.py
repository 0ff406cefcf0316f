"""What changes nothing has no cost, in real guests."""

from __future__ import annotations

import subprocess

import pytest

from tests.vm.conftest import Command

pytestmark = [pytest.mark.vm, pytest.mark.slow]

CALLS = "syscalls calls=exec+fork+creat+connect+open"
SETTING = """title = "a setting with the value that it has"
source = "this test"
[sysctl]
"kernel.pid_max" = "32768"
"""
PROGRAM = """int main(void) {
    volatile long sum = 0;
    for (long n = 250000; n > 0; n--) sum += n;
    return 0;
}
"""
WORDS = """title = "words that the kernel does not read"
workloads = ["command file=program"]
baseline = "without"
[[configuration]]
name = "without"
[[configuration]]
name = "with"
boot = ["hardcost.placebo=a", "hardcost.placebo=b", "hardcost.placebo=c", "hardcost.placebo=d"]
"""


def test_a_setting_that_changes_nothing_costs_nothing_and_does_not_interact(
    hardcost: Command,
) -> None:
    profile = hardcost.write("setting.toml", SETTING)
    outcome = hardcost("bill", profile, "--workload", CALLS, "--format", "json")
    bill = outcome.data()
    assert all(row["cost"] == 0 for row in bill["items"])
    assert {row["metric"] for row in bill["least"]} == set(CALLS.split("=")[1].split("+"))
    assert all(row["placebos"] == 8 for row in bill["least"])
    assert not any(row["distinguishable"] for row in bill["totals"])
    assert all(row["cost"] == 0 for row in bill["interaction"])
    assert "interaction" not in hardcost("report", "last").out


@pytest.mark.lengthy
def test_words_on_the_boot_line_do_not_make_a_program_dearer(hardcost: Command) -> None:
    source = hardcost.folder / "program.c"
    source.write_text(PROGRAM)
    subprocess.run(
        ["gcc", "-O1", "-static", "-o", str(hardcost.folder / "program"), str(source)],
        check=True,
    )
    study = hardcost.write("words.toml", WORDS)
    wall = hardcost("run", study, "--format", "json").values("wall")
    # Other words leave other pages free, which moves what starting a program takes.
    assert wall["with"] == pytest.approx(wall["without"], rel=1e-3)
