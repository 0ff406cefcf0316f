"""A proof shows the same example whatever was proved before it in the same process."""

from __future__ import annotations

from random import Random
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from audit_rules.tests.prove.rule_sets import (
    RELATIONS,
    STIG,
    loadable,
    pairs_of_sets,
    proved,
    rules,
)
from auditrules.model.kernel_rule import KernelRule, Operator
from auditrules.prove import example
from auditrules.prove.formulas import Atoms
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation
from auditrules.prove.solver import (
    Effort,
    Model,
    NumberTerm,
    Solver,
    compare,
    number_of,
    unknown_number,
)

EXIT = "-a always,exit -F arch=b64 -S open,creat,openat -F exit=-E{} -F auid>=1000 -k access"
EDITS = (
    (EXIT.format("ACCES"), EXIT.format("NOENT")),  # either call distinguishes them
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
    first = [prove_equal(original, one).difference for one in edited]
    assert None not in first
    for _ in range(12):
        proved(STIG, tuple(random.sample(STIG, len(STIG) - 2)))
        assert [prove_equal(original, one).difference for one in edited] == first


@settings(max_examples=settings().max_examples * 2 // 5, deadline=None)
@given(st.lists(st.tuples(pairs_of_sets(), RELATIONS), min_size=2, max_size=8))
def test_no_example_depends_on_the_order_of_proofs(
    asked: list[tuple[tuple[list[str], list[str]], Relation]],
) -> None:
    proofs = [(loadable(a), loadable(b), relation) for (a, b), relation in asked]
    first = [prove_equal(*one).difference for one in proofs]
    assert [prove_equal(*one).difference for one in reversed(proofs)] == first[::-1]


def undetermined(a: list[KernelRule], b: list[KernelRule], relation: Relation) -> set[str]:
    """Return the numbers that are read from models, and are not made as small as can be."""
    read, determined = set[str](), {"filesystem"}
    value, numbers = Model.value, example.numbers

    def reading(model: Model, term: NumberTerm) -> int:
        read.add(str(term))
        return value(model, term)

    def determining(atoms: Atoms) -> list[NumberTerm]:
        found = numbers(atoms)
        determined.update(map(str, found))
        return found

    with (
        patch.object(Model, "value", reading),
        patch.object(example, "numbers", determining),
    ):
        prove_equal(a, b, relation)
    return {term for term in read - determined if not term.isdecimal()}


@settings(deadline=None)
@given(pairs_of_sets(), RELATIONS)
def test_all_that_is_read_from_a_model_has_one_value(
    pair: tuple[list[str], list[str]], relation: Relation
) -> None:
    assert not undetermined(loadable(pair[0]), loadable(pair[1]), relation)


def test_so_have_users_whom_nobody_resolved_and_types_of_records() -> None:
    users = rules("-a always,exit -S open -F auid=alice -F uid!=bob -F gid=staff")
    assert not undetermined(users, [], Relation())
    records = rules("-a always,exclude -F msgtype=CWD", "-a always,exclude -F msgtype>2000")
    assert not undetermined(records, [], Relation())


def test_an_example_of_a_hidden_file_system_does_not_depend_on_earlier_proofs() -> None:
    watch = "-w /f -p r -k f"
    hiding = [f"-a never,filesystem -F fstype={number}" for number in (7, 99, 1234)]
    shown = [proved((*hiding, watch), (watch,)).difference for _ in range(4)]
    assert shown[0] is not None
    assert {name.filesystem for one in shown if one for name in one.event.names} == {7}
    assert shown == shown[:1] * 4


def test_a_number_is_as_small_as_what_is_demanded_leaves_it() -> None:
    """Two numbers of which one is to be above 70,000, and above the other, which is above 5."""
    low, high = unknown_number("low"), unknown_number("high")
    solver = Solver(Effort(10))
    solver.add([
        compare(low, Operator.GREATER, number_of(5)),
        compare(high, Operator.GREATER, number_of(70_000)),
        compare(high, Operator.GREATER, low),
    ])  # fmt: skip
    wish = compare(low, Operator.GREATER, number_of(69_999))
    model = solver.solve_with_wishes([wish], [high, low])
    assert model is not None
    assert (model.value(low), model.value(high)) == (70_000, 70_001)
