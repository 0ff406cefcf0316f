"""What a machine says of itself, and what of that another may know."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.errors import MachineError
from hardcost.machines.real.facts import questions, read
from hardcost.protocol.answers import ContentAnswer
from hardcost.protocol.requests import Read

SAID = {
    "machine": "3d1219c7c4c5404aaa1f6d2a48adfda4\n",
    "boot": "431e7f77-a204-48e2-b515-fa2d04cbe175\n",
    "release": "6.1.0-42-amd64\n",
    "version": "#1 SMP Debian\n",
    "cpuinfo": "model name\t: A processor\nflags\t\t: fpu hypervisor\n",
    "status": "Cpus_allowed_list:\t0-2,5\n",
}


def answers(**texts: str | None) -> list[ContentAnswer]:
    said = {**SAID, **texts}
    return [ContentAnswer(name=n, path=n, text=t, bytes=None) for n, t in said.items()]


def test_the_last_processor_is_taken_of_those_that_are_allowed() -> None:
    assert read(answers()).cpus == (0, 1, 2, 5)
    assert read(answers()).cpu == 5
    assert read(answers(status=None)).cpu is None


def test_kernel_and_processor_are_named_and_a_hypervisor_is_noticed() -> None:
    facts = read(answers())
    assert facts.kernel == "6.1.0-42-amd64 #1 SMP Debian"
    assert (facts.model, facts.virtual) == ("A processor", True)


def test_two_machines_differ_and_neither_id_is_repeated() -> None:
    one, other = read(answers()), read(answers(machine="0" * 32))
    assert one.machine != other.machine
    assert SAID["machine"].strip() not in repr(one)
    assert read(answers(machine=None)).machine == ""


def test_a_machine_that_names_no_kernel_is_an_error() -> None:
    with pytest.raises(MachineError, match="does not say which kernel it runs"):
        read(answers(release=None))


@given(
    st.dictionaries(
        st.sampled_from([one.name for one in questions() if isinstance(one, Read)]), st.text()
    )
)
def test_what_it_says_is_bounded_and_one_line(texts: dict[str, str]) -> None:
    facts = read(answers(**{**texts, "release": "6.1"}))
    assert all(
        len(one) <= 401 and "\n" not in one for one in (facts.kernel, facts.name, facts.boot)
    )
    assert len(facts.cpus) < 100_000
