"""A workload can print what it likes: no run and no report is disturbed by it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

STUDY = """
title = "what a program prints"
workloads = ["command file=program"]
baseline = "audit-off"
[[configuration]]
name = "audit-off"
boot = []
[[configuration]]
name = "audit-on"
audit.enabled = true
"""

SPEAKS = r"""
#include <stdio.h>
#include <string.h>
int main(void)
{
    static char line[1 << 20];
    FILE *streams[] = {stdout, stderr};
    memset(line, 'x', sizeof line - 1);
    for (int i = 0; i < 2; i++) {
        FILE *to = streams[i];
        for (int c = 0; c < 256; c++)
            fputc(c, to);
        fputs("\033[2J\033]0;title\007\r\n", to);
        fputs("{\"event\":\"end\"}\n{\"event\":\"error\",\"request\":0,\"message\":\"no\"}\n", to);
        fputs("{\"event\":\"command\",\"status\":0,\"ticks\":1,\"stderr\":\"\"}\n", to);
        fputs("{\"event\":\"hello\",\"protocol\":99}\n", to);
        fputs(line, to);
    }
    return STATUS;
}
"""
QUIET = "int main(void) { for (volatile int i = 0; i < 1000; i++) {} return 0; }"


def control_characters(text: str) -> set[str]:
    return {char for char in text if not char.isprintable()} - {"\n"}


@pytest.mark.slow
@pytest.mark.lengthy
def test_nothing_that_a_program_prints_disturbs_its_run(
    hardcost: Command, compiled: Callable[[str], bytes]
) -> None:
    hardcost.write("program", compiled(SPEAKS.replace("STATUS", "0")))
    study = hardcost.write("study.toml", STUDY)
    words = ("run", study, "--fresh", "--repetitions", "1", "--format", "json")
    first, second = hardcost(*words), hardcost(*words)
    assert first.raw_cells() == second.raw_cells()
    loud = first.values("wall")
    hardcost.write("program", compiled(QUIET))
    quiet = hardcost(*words).values("wall")
    assert quiet["audit-off"] > 1000
    assert loud["audit-off"] > quiet["audit-off"] + 2_000_000  # it writes a megabyte twice
    report = hardcost("report", "last")
    assert not control_characters(report.out + report.err + first.err)


@pytest.mark.slow
def test_what_a_failing_program_prints_is_reported_without_control_characters(
    hardcost: Command, compiled: Callable[[str], bytes]
) -> None:
    hardcost.write("program", compiled(SPEAKS.replace("STATUS", "7")))
    outcome = hardcost("run", hardcost.write("study.toml", STUDY), status=3)
    assert ", command file=program: program ended with status 7" in outcome.err
    assert not control_characters(outcome.err)
    assert len(outcome.err) < 4000


@pytest.mark.slow
def test_a_program_that_crashes_is_reported_by_its_signal(
    hardcost: Command, compiled: Callable[[str], bytes]
) -> None:
    hardcost.write("program", compiled("int main(void) { __builtin_trap(); }"))
    outcome = hardcost("run", hardcost.write("study.toml", STUDY), status=3)
    assert "program ended with signal 4" in outcome.err


def test_what_is_no_static_program_is_refused_before_any_guest(hardcost: Command) -> None:
    study = hardcost.write("study.toml", STUDY)
    assert "can't be read" in hardcost("run", study, status=2).err
    hardcost.write("program", "#!/bin/sh\n")
    assert "it is no ELF file" in hardcost("run", study, status=2).err
