"""The optimiser's times on mixed rules can be compared only if the rules stay the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

from auditrules.load.load import load_rules
from auditrules.load.target import NOWHERE
from auditrules.read import parse
from bench.speed.mixed_rules import mixed_rules

COUNT = 300


def test_a_number_and_a_seed_always_give_the_same_rules() -> None:
    text = "\n".join(mixed_rules(COUNT, 1))
    assert (
        hashlib.sha256(text.encode()).hexdigest()
        == "01d3349c5b734bf05b5c5680d889cc36b2de172b3f0fd075d03cc4737a06199b"
    )
    assert mixed_rules(COUNT, 2) != mixed_rules(COUNT, 1)


def test_there_are_as_many_rules_as_asked_for_and_all_load(tmp_path: Path) -> None:
    file = tmp_path / "x.rules"
    file.write_text("".join(f"{line}\n" for line in mixed_rules(COUNT, 1)))
    rules = parse.read([file]).rules
    assert len(load_rules(rules, NOWHERE.likely_target(rules)).rules) == COUNT
