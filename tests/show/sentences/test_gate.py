"""What a gate says in words of the price of having any rule, and of what has no number."""

from __future__ import annotations

import dataclasses

import pytest

from hardcost.model.finding.change import Contribution
from hardcost.show.exports.gate_markdown import gate_markdown
from hardcost.show.exports.gate_sarif import gate_sarif
from hardcost.show.exports.junit import junit
from hardcost.show.sentences.gate import sentences
from hardcost.show.tables.gate import grids
from tests.show.exports.gates import gate, line

SAID = (
    "Having any rule: +50 instructions per operation on open, +50.0% of it; it is paid once,"
    " whichever the rules are."
)


def test_the_price_of_having_any_rule_is_a_cause_beside_the_lines() -> None:
    over, price = sentences(gate(fixed=50.0))
    assert ": having any rule +50, rules.d/x.rules:7 (added) +10 instructions" in over
    assert price == SAID


def test_alone_it_is_no_line_s_fault() -> None:
    over = sentences(gate(grows=0.0, fixed=50.0))[0]
    assert over.endswith(
        ": having any rule +50 instructions per operation; no single line explains it."
    )


def test_saved_it_has_a_minus_sign() -> None:
    assert sentences(gate(fixed=-50.0))[-1].startswith("Having any rule: -50 instructions")
    assert not sentences(gate(fixed=-50.0))[-1].endswith("are.")


@pytest.mark.parametrize("fixed", [0.0, None])
def test_where_it_is_0_or_not_known_it_is_not_said(fixed: float | None) -> None:
    found = gate(fixed=fixed)
    texts = [*sentences(found), gate_markdown(found), junit(found), str(gate_sarif(found, "1"))]
    assert not any("aving any rule" in text for text in texts)


def test_every_form_has_it() -> None:
    found = gate(fixed=50.0)
    assert "having any rule | +50 insn" in gate_markdown(found)
    assert "having any rule: +50" in junit(found)
    assert SAID in str(gate_sarif(found, "1"))
    assert grids(found, found.growths)[1].texts[0].name == "having any rule"
    alone = gate(grows=0.0, fixed=50.0)
    assert "no single line of the change explains it (having any rule: +50)" in str(
        gate_sarif(alone, "1")
    )


def test_a_line_whose_part_has_no_number_is_named_with_the_reason() -> None:
    found = gate(grows=0.0)
    growth = dataclasses.replace(found.growths[0], unpriced=((line("x"), "an estimate"),))
    said = sentences(dataclasses.replace(found, growths=(growth,)))
    assert "What rules.d/x.rules:7 adds to open has no number (an estimate)." in said


def test_what_to_leave_out_suffices_to_pass() -> None:
    one = gate(grows=10.0)
    assert any("leave out rules.d/x.rules:7, or accept its" in said for said in sentences(one))
    (growth,) = one.growths
    parts = tuple(
        Contribution(line(str(at), at=at), cost, cost, cost)
        for at, cost in ((1, 4.0), (2, 4.0), (3, 2.0))
    )
    several = dataclasses.replace(growth, parts=parts)
    said = sentences(dataclasses.replace(one, growths=(several,)))
    assert any("leave out rules.d/x.rules:1 and rules.d/x.rules:2, or accept" in it for it in said)
    little = dataclasses.replace(growth, parts=parts[2:])
    said = sentences(dataclasses.replace(one, growths=(little,)))
    assert not any(it.startswith("To pass") for it in said)
