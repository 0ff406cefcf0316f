"""The prover against the semantics: what it says of all events must hold of any that is drawn."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from audit_rules.tests.prove.rule_sets import RELATIONS, SETS, loadable, pairs_of_sets
from audit_rules.tests.random_rule_sets import Drawing
from auditrules.kernel.semantics import decide, load
from auditrules.prove.prove import fires, prove_equal
from auditrules.prove.relation import Relation


@settings(deadline=None)
@given(pairs_of_sets(), RELATIONS, st.integers(0, 2**32))
def test_no_drawn_event_contradicts_a_proof(
    pair: tuple[list[str], list[str]], relation: Relation, seed: int
) -> None:
    a, b = (loadable(text) for text in pair)
    result = prove_equal(a, b, relation)
    assert result.equal is not None
    if not result.equal:
        return  # the event is checked before it is returned
    drawing = Drawing([*a, *b], Random(seed))  # noqa: S311  (no secret)
    loaded_a, loaded_b = load(a, drawing.files), load(b, drawing.files)
    for _ in range(200):
        event = drawing.event()
        if relation.no_b32 and event.arch == "b32":
            continue
        if relation.ignore_raised:
            event = replace(event, raised=False)
        outcomes = decide(loaded_a, event), decide(loaded_b, event)
        assert relation.agree(*outcomes), (event, outcomes)


@settings(deadline=None)
@given(SETS, st.integers(0, 2**32))
def test_a_rule_that_decided_about_a_drawn_event_can_fire(text: list[str], seed: int) -> None:
    loaded_rules = loadable(text)
    drawing = Drawing(loaded_rules, Random(seed))  # noqa: S311  (no secret)
    loaded = load(loaded_rules, drawing.files)
    can = fires(loaded_rules)
    for _ in range(100):
        decided_by = decide(loaded, drawing.event()).decided_by
        assert decided_by is None or can[decided_by]
