"""Twice as many rules take at most a little more than twice the steps, which repeat exactly."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import auditrules
from auditrules.cost import histogram, idle_rules
from auditrules.cost.call_classes import Alike
from auditrules.cost.constants import Constants
from auditrules.cost.idle_rules import waste_by_rule
from auditrules.cost.predict import price
from auditrules.kernel import semantics
from auditrules.lint import checks, supersets
from auditrules.lint.context import LintOptions, gather
from auditrules.model import subsets
from auditrules.optimize.changes import RuleChanges
from auditrules.optimize.lines import Candidates
from auditrules.optimize.prices import Prices
from auditrules.read import parse

MANY = 100
MOST = 2.5  # times the steps, for twice the rules
CONSTANTS = Constants.of_debian()
SETS = {
    "watches": "-w /srv/{n} -p wa -k all",
    "trees": "-a always,exit -F dir=/srv/{n} -F perm=wa -k {n}",
    "programs": "-a always,exit -F path=/usr/bin/{n} -F perm=x -F auid>=1000 -F auid!=unset -k p",
    "on one path": "-a always,exit -F path=/etc/passwd -F perm=wa -F auid={n} -k k{n}",
    "same rule": "-w /etc/passwd -p wa -k identity",
    "calls": "-a always,exit -F arch=b32 -S {m} -F auid>={k} -F uid={n} -k {n}",
    "own calls": "-a always,exit -F arch=b64 -S {m},{k} -k same",
    "pairs": "-a always,exit -F arch=b64 -S openat -F auid>={m} -F uid>={k} -k same",
    "many fields": "-a always,exit -S openat "
    + " ".join(f"-F uid!={{n}}{one}" for one in range(16)),  # values that one cache holds
    "unreadable": "-a always,exit -F arch=b64 -S nosuch{n} -k k",
    "blank": "",
}


OURS = str(Path(auditrules.__file__).parent)


def steps(work: Callable[[], object]) -> int:
    """Return how many lines of the rules' own Python are executed.

    Other lines don't count: a finalizer of what an earlier test left may run at any time.
    """
    count = 0

    def seen(frame: FrameType, event: str, _argument: object) -> Callable[..., Any] | None:
        nonlocal count
        if not frame.f_code.co_filename.startswith(OURS):
            return None
        count += event == "line"
        return seen

    before = sys.gettrace()
    sys.settrace(seen)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def written(form: str, many: int, start: int) -> bytes:
    lines = (form.format(n=n + start, m=n % 17, k=n % 41) for n in range(many))
    return "".join(f"{line}\n" for line in lines).encode()


def works(data: bytes) -> dict[str, Callable[[], object]]:
    """What is done with rules, each on its own, so that much of one does not hide the others."""
    readings = parse.read_bytes(data, "x.rules")
    context = gather([readings], (), LintOptions(constants=CONSTANTS))
    loaded = semantics.load(context.rules)
    alike = Alike(CONSTANTS, loaded)
    done: dict[str, Callable[[], object]] = {
        "read": lambda: parse.read_bytes(data, "x.rules"),
        "load": lambda: gather([readings]),
        "arrange": lambda: semantics.load(context.rules),
        "price": lambda: price(histogram.general(), alike.predict),
        "waste": lambda: waste_by_rule(loaded),
    }
    return done | {code: partial(checks.findings_in, context, {code}) for code in checks.CODES}


@pytest.mark.parametrize("form", SETS.values(), ids=SETS)
def test_twice_as_many_rules_take_twice_the_steps(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, bound in (
        (subsets, "MOST_LOOKED_AT"),
        (idle_rules, "MOST_LOOKED_AT"),
        (supersets, "_MOST_ALIKE"),
    ):
        monkeypatch.setattr(module, bound, MANY // 10)  # else it grows up to them
    for work in works(written(form, 2 * MANY, 1000)).values():
        work()  # tables and the like are then there; what is kept of rules is of others
    few = {name: steps(work) for name, work in works(written(form, MANY, 3000)).items()}
    many = {name: steps(work) for name, work in works(written(form, 2 * MANY, 5000)).items()}
    assert not {
        name: (few[name], much) for name, much in many.items() if much > MOST * few[name] + MANY
    }


def optimiser_works(form: str, many: int, start: int) -> dict[str, Callable[[], object]]:
    """What the optimiser does with each rule and those that it meets, before any two are joined."""
    readings = parse.read_bytes(written(form, many, start), "x.rules")
    rules = gather([readings], (), LintOptions(constants=CONSTANTS)).rules
    prices = Prices(CONSTANTS, histogram.general())
    lines = Candidates.of(rules, b32=True)
    return {
        "order": lambda: Candidates.of(rules, b32=True),
        "shadowed": RuleChanges(lines, prices, rules).drop_shadowed,
    }


@pytest.mark.parametrize(
    "form", ["watches", "programs", "calls", "own calls", "on one path", "many fields"]
)
def test_the_optimiser_takes_twice_the_steps_for_twice_as_many_rules(form: str) -> None:
    for work in optimiser_works(SETS[form], MANY, 1000).values():
        work()
    few, many = (
        {name: steps(work) for name, work in optimiser_works(SETS[form], count, start).items()}
        for count, start in ((MANY, 3000), (2 * MANY, 5000))
    )
    assert not {name: (few[name], much) for name, much in many.items() if much > MOST * few[name]}


def test_a_folder_is_bounded_like_a_file(tmp_path: Path) -> None:
    half = b"\n" * (parse.MOST_LINES // 2)
    for name, data in (("a", half), ("b", half), ("c", b"\n")):
        (tmp_path / f"{name}.rules").write_bytes(data)
    (readings, faults), *_ = parse.read_each([tmp_path])
    assert not readings
    assert [one.message for one in faults] == ["its files are longer than 250,000 lines together"]
    (tmp_path / "c.rules").unlink()
    (readings, faults), *_ = parse.read_each([tmp_path])
    assert (len(readings), faults) == (parse.MOST_LINES, [])


def test_a_file_of_more_lines_than_a_set_has_is_refused_at_once(tmp_path: Path) -> None:
    file = tmp_path / "x.rules"
    file.write_bytes(b"\n" * (parse.MOST_LINES + 1))
    (readings, faults), *_ = parse.read_each([file])
    assert not readings
    assert [one.message for one in faults] == ["it is longer than 250,000 lines"]
