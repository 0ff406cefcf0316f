"""A proof shows the same example whatever was proved before it in the same process."""

from __future__ import annotations

from random import Random

from tests.auditrules.test_prove import STIG, proved, rules

from hardcost.auditrules.kernelrule import Operator
from hardcost.auditrules.prove import logic
from hardcost.auditrules.prove.prove import prove

EXIT = "-a always,exit -F arch=b64 -S open,creat,openat -F exit=-E{} -F auid>=1000 -k access"
EDITS = (
    (EXIT.format("ACCES"), EXIT.format("NOENT")),  # either call tells them apart
    ("-w /etc/group -p wa -k identity", "-w /etc/group -p wa -k groups"),
    ("-a never,exit -F arch=b64 -S chmod -F auid=1001", "-a never,exit -F arch=b64 -S chmod"),
    ("-a always,exit -S mmap -F a2&6 -k map", "-a always,exit -S mmap -F a2&12 -k map"),
)


def test_an_example_does_not_depend_on_earlier_proofs() -> None:
    random = Random(1)  # noqa: S311  (not for secrets)
    original = rules(*dict.fromkeys((*STIG, *(old for old, _ in EDITS))))
    edited = [
        rules(*dict.fromkeys((*(line for line in STIG if line != old), new))) for old, new in EDITS
    ]
    first = [prove(original, one).difference for one in edited]
    assert None not in first
    for _ in range(12):
        proved(STIG, tuple(random.sample(STIG, len(STIG) - 2)))
        assert [prove(original, one).difference for one in edited] == first


def test_a_number_is_as_small_as_what_is_demanded_leaves_it() -> None:
    """Two numbers of which one is to be above 70,000, and above the other, which is above 5."""
    low, high = logic.unknown("low"), logic.unknown("high")
    solver = logic.Solver(10)
    solver.add([
        logic.compare(low, Operator.GREATER, logic.number(5)),
        logic.compare(high, Operator.GREATER, logic.number(70_000)),
        logic.compare(high, Operator.GREATER, low),
    ])  # fmt: skip
    wish = logic.compare(low, Operator.GREATER, logic.number(69_999))
    model = solver.solve_with_wishes([wish], [high, low])
    assert model is not None
    assert (model.value(low), model.value(high)) == (70_000, 70_001)
