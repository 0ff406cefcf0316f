"""The workload `memory`: what the kernel says of its own memory."""

from __future__ import annotations

import pytest

from hardcost.errors import InputError, TrialError
from hardcost.instruments.insn import INSN
from hardcost.instruments.time import TIME
from hardcost.protocol.answers import ContentAnswer
from hardcost.workloads.memory import KIND, Parameters

MEMINFO = "MemTotal:  461116 kB\nSlab:  14920 kB\nPageTables:  36 kB\nHugePages_Total: 0\n"
ZONES = """Node 0, zone      DMA
  pages free     3840
        spanned  4095
        present  3998
        managed  3840
Node 0, zone    DMA32
        present  126944
        managed  111439
"""


def said(meminfo: str | None = MEMINFO, zones: str | None = ZONES) -> tuple[ContentAnswer, ...]:
    texts = {"meminfo": meminfo, "zoneinfo": zones}
    return tuple(
        ContentAnswer(name=name, path=f"/proc/{name}", text=text, bytes=None)
        for name, text in texts.items()
    )


def test_the_metrics_are_bytes() -> None:
    found = KIND.measured(Parameters(), said(), INSN)
    assert {one.unit for one in found} == {"bytes"}
    assert {one.metric: one.samples for one in found} == {
        "static": ((158 + 15505) * 4096.0,),
        "slab": (14920 * 1024.0,),
        "page-tables": (36 * 1024.0,),
    }


@pytest.mark.parametrize(
    ("answers", "lacking"),
    [
        (said(meminfo="Slab: 1 kB\n"), "PageTables"),
        (said(meminfo=None), "Slab"),
        (said(zones=""), "its zones"),
        (said(zones=ZONES.replace("managed", "present")), "its zones"),
    ],
)
def test_a_kernel_that_does_not_say_it_has_no_number(
    answers: tuple[ContentAnswer, ...], lacking: str
) -> None:
    with pytest.raises(TrialError, match=f"does not say its memory: {lacking}"):
        KIND.measured(Parameters(), answers, INSN)


def test_a_machine_that_is_in_use_is_refused() -> None:
    with pytest.raises(InputError, match="just booted"):
        Parameters().check(TIME)
    Parameters().check(INSN)
