from __future__ import annotations

import random

from auditrules.auditctl.translate import translate
from auditrules.kernel.event import Event, FileId, VisitedName
from auditrules.model.fault import RulesError
from auditrules.model.location import Location
from auditrules.read.parse import read_line
from conformance.agreement import GUEST
from conformance.random_rules import RuleDrawing

F1 = VisitedName("/field/f1", FileId(0, 24, 9), mode=0o100644)
DIR = VisitedName("/field/dir", FileId(0, 24, 3), mode=0o40755)
EVENTS = (
    Event("b64", 257, (5, 6, 7, 8), exit=-13, uid=1000, groups=frozenset({4}), names=(F1,)),
    Event("b32", 38, exit=0, names=(DIR, F1), personality=8),
    Event("b64", 42, exit=-111, socket_family=2),
    Event("b64", 5000, exit=-38),
)


def chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  (no secret)


def drawn(seed: int, count: int) -> list[str]:
    drawing = RuleDrawing(chance(seed), EVENTS)
    return [drawing.rule_set(4, number).rules for number in range(count)]


def test_the_same_seed_draws_the_same_sets() -> None:
    assert drawn(1, 5) == drawn(1, 5)
    assert drawn(1, 5) != drawn(2, 5)


def test_a_set_names_the_calls_at_which_it_is_aimed() -> None:
    wanted = RuleDrawing(chance(1), EVENTS).rule_set(3)
    assert wanted.calls is not None
    assert len(set(wanted.calls)) == 3
    assert set(wanted.calls) <= {0, 1, 2, 3}


def test_some_rules_are_deleted_and_some_of_those_come_back() -> None:
    sets = [rules.splitlines() for rules in drawn(3, 300)]
    deletions = [(lines, at) for lines in sets for at, line in enumerate(lines) if line[:2] == "-d"]
    assert len(deletions) > 100
    for lines, at in deletions:
        assert any(line[0] == "-" and line[2:] == lines[at][2:] for line in lines[:at])
    assert any(
        line in lines[at:] and line in lines[:at] for lines, at in deletions for line in lines
    )


def test_nearly_all_rules_can_be_loaded_and_all_kinds_come() -> None:
    lines = [line for rules in drawn(3, 300) for line in rules.splitlines()]
    refused = 0
    for line in lines:
        reading = read_line(line, Location("drawn", 1))
        try:
            assert reading.fault is None or line == "-w field/f1 -p wa"
            if reading.rule is not None:
                translate(reading.rule, GUEST)
        except RulesError:
            refused += 1
    assert 0 < refused < len(lines) / 20
    together = "\n".join(lines)
    for words in (
        "-w /", "-d always", "-d never", "-W /", "-D\n", "-A always", "-a never", "exit,always",
        "filesystem", "arch=b32", "arch!=",
        "-S all", "-F path=", "-F dir=", "-F inode=", "-F inode!=", "-F exe=", "-F exe!=",
        "-F perm=", "-C ",
        "-F exit", "-F success", "auid!=unset", "-F saddr_fam", "-F a0", "-F pers", "-F filetype",
        "-F obj_uid", "-F devminor", "-F gid", "-k ", "-F key=",
    ):  # fmt: skip
        assert words in together, words
