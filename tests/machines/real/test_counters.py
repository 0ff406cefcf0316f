"""What a processor counts for us, by what probes on other machines answer."""

from __future__ import annotations

import errno

import pytest

from hardcost.machines.real.counters import OF_PROGRAMS, WHOLE, counter_questions, read_counters
from hardcost.protocol.answers import CountersAnswer


def answers(whole: int | None, programs: int | None) -> list[CountersAnswer]:
    refused = {WHOLE: whole, OF_PROGRAMS: programs}
    return [
        CountersAnswer(names=one.names, refused=refused[one.names]) for one in counter_questions()
    ]


def test_a_processor_that_counts_is_taken_as_it_is() -> None:
    assert read_counters(answers(None, None), "1", virtual=False) == (WHOLE, "")


def test_where_the_kernel_is_not_to_be_counted_programs_are_and_it_is_said() -> None:
    counters, why = read_counters(answers(errno.EACCES, None), "2", virtual=False)
    assert counters == OF_PROGRAMS
    assert why == "the kernel's own are counted only for root (kernel.perf_event_paranoid is 2)"


@pytest.mark.parametrize(
    ("number", "virtual", "said"),
    [
        (
            errno.ENOENT,
            True,
            "this virtual machine has no counters of instructions and cycles, its",
        ),
        (errno.EOPNOTSUPP, False, "this machine has no counters of instructions and cycles, or"),
        (errno.EACCES, False, "the kernel lets only root count (kernel.perf_event_paranoid is 3)"),
        (errno.ENOSYS, True, "the kernel has no perf_event_open"),
        (errno.EBUSY, False, "the kernel refuses to count (EBUSY)"),
        (12345, False, "the kernel refuses to count (12345)"),
    ],
)
def test_a_machine_without_counters_says_why_in_words(
    number: int, *, virtual: bool, said: str
) -> None:
    counters, why = read_counters(answers(number, number), "3", virtual=virtual)
    assert counters == ()
    assert why.startswith(said)


def test_an_answer_that_is_missing_is_no_counter() -> None:
    counters, why = read_counters(answers(None, None)[:1], "", virtual=False)
    assert (counters, bool(why)) == ((), True)
