"""What goes on beside a job, out of the kernel's own files, however they look."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hardcost.machines.real.interference import (
    companions,
    split_readings,
    surroundings,
    with_readings,
)
from hardcost.protocol.answers import ContentAnswer
from tests.machines.real.stand_ins import calls
from tests.protocol.json_messages import typed

BEFORE = {
    "stat": "cpu  9 9 9 9 9 9 9 9\ncpu1 100 0 50 900 3 1 2 10 0 0\nctxt 1000\n",
    "interrupts": "      CPU0 CPU1\n 24:  7  40  IO-APIC\nLOC: 1 100 Local timer\nERR: 0\n",
    "cpuinfo": "processor\t: 0\ncpu MHz\t\t: 1000.0\nprocessor\t: 1\ncpu MHz\t\t: 2600.5\n",
    "loadavg": "1.50 1.00 0.50 2/300 4000\n",
    "throttles": "3\n",
    "status": "Name:\tx\nCpus_allowed_list:\t1\n",
}
AFTER = {
    **BEFORE,
    "stat": "cpu1 180 0 70 900 3 1 2 15 0 0\nctxt 1234\n",
    "interrupts": "      CPU0 CPU1\n 24:  9  41  IO-APIC\nLOC: 1 120 Local timer\nERR: 0\n",
    "cpuinfo": "cpu MHz : 1000.0\ncpu MHz : 2600.0\n",
    "throttles": "4\n",
}


def test_what_is_counted_of_the_processor_is_the_difference() -> None:
    assert surroundings({"before": BEFORE, "after": AFTER}, 1) == {
        "busy_seconds": 1.0,
        "steal_seconds": 0.05,
        "interrupts": 21.0,
        "switches": 234.0,
        "megahertz_before": 2600.5,
        "megahertz": 2600.0,
        "throttles": 1.0,
        "pinned": 1.0,
        "load": 1.5,
    }


def test_what_the_kernel_does_not_say_is_left_out() -> None:
    assert surroundings({}, 1) == {}
    assert surroundings({"before": {"stat": "cpu1 x y"}, "after": {"stat": "cpu1"}}, 1) == {}


def test_only_what_was_read_around_the_job_is_taken_out_of_its_answers() -> None:
    job = with_readings([calls("null")], 1)
    assert job[len(job) // 2] == calls("null")
    read = ContentAnswer(name="surroundings before stat", path="/proc/stat", text="x", bytes=1)
    own = ContentAnswer(name="surroundings of mine", path="/x", text="y", bytes=1)
    rest, texts = split_readings([read, own])
    assert rest == (own,)
    assert texts == {"before": {"stat": "x"}, "after": {}}


@given(st.dictionaries(st.sampled_from(sorted(BEFORE)), st.text()), st.integers(0, 3) | st.none())
def test_no_text_is_too_strange(texts: dict[str, str], cpu: int | None) -> None:
    found = surroundings({"before": BEFORE, "after": {**AFTER, **texts}}, cpu)
    assert all(value >= 0 for value in found.values())


def test_the_copy_that_ran_least_is_known_by_its_share_of_the_windows() -> None:
    one = {"event": "call", "name": "null", "samples": [50, 50], "companions": {"0": 90, "2": 40}}
    other = {**one, "name": "read", "companions": {"0": 80, "2": 60}}
    assert companions(typed([one, other])) == {"companions": 0.4}
    assert companions(typed([{**one, "companions": {}}])) == {}
    assert companions(typed([{**one, "samples": [0]}])) == {}
