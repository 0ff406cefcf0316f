"""What rules are read as, held to auditctl and the kernel in a guest: taken, refused, listed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from audit_rules.tests.lines import APART, WITHOUT_A_RULE, at_random, by_hand
from auditrules.auditctl.translate import Target, translate
from auditrules.auditctl.write import listing, text_of
from auditrules.model.fault import Fault, RulesError
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.location import Location
from auditrules.read.parse import read_line
from conformance.battery import SetResult, WantedRules, run_battery
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

pytestmark = [pytest.mark.vm, pytest.mark.usefixtures("read_for")]

# Until auditctl has sent its first rule it keeps silent about faults: hence one that is deleted.
PREAMBLE = ("-a never,user -F pid=4194304", "-d never,user -F pid=4194304")
TREES = frozenset({"", "/etc", "/tmp"})  # noqa: S108  (in the guest)
GUEST = Target(is_directory=lambda path: path.rstrip("/") in TREES)
SET = 400  # lines loaded at once
RANDOM = 1500


@dataclass(frozen=True)
class Line:
    """A line, and what it is read as."""

    text: str
    rule: KernelRule | None
    fault: Fault | None

    @classmethod
    def of(cls, text: str) -> Line:
        reading = read_line(text, Location("x.rules", 1))
        if reading.rule is None:
            return cls(text, None, reading.fault)
        try:
            return cls(text, translate(reading.rule, GUEST), None)
        except RulesError as error:
            return cls(text, None, error.faults[0])


def distinct(texts: list[str]) -> list[Line]:
    """Return lines that are read as different rules: the kernel takes none twice."""
    found: dict[object, Line] = {}
    for text in texts:
        line = Line.of(text)
        kernel_rule = None if line.rule is None else replace(line.rule, prepend=False)
        found.setdefault(kernel_rule or text, line)
    return list(found.values())


def loaded(cache_root: Path, sets: list[list[Line]]) -> tuple[SetResult, ...]:
    """Load each set, and return what auditctl said; lines count from 1."""
    machine = VirtualMachine(Cache(cache_root), Hardware("tcg"))
    texts = ["\n".join([*PREAMBLE, *(line.text for line in lines), ""]) for lines in sets]
    wanted = [WantedRules(text, calls=(), listed=True) for text in texts]
    ahead = len(PREAMBLE)
    return tuple(
        replace(one, refused=frozenset(line - ahead for line in one.refused))
        for one in run_battery(machine, wanted).sets
    )


def compared(lines: list[Line], result: SetResult) -> list[str]:
    """Return where auditctl and the reading differ."""
    differ = [
        f"auditctl {'refuses' if number in result.refused else 'takes'} {line.text!r}: {line.fault}"
        for number, line in enumerate(lines, 1)
        if (line.rule is None) is not (number in result.refused)
    ]
    rules = [line.rule for line in lines if line.rule is not None]
    theirs = (result.listing or "").splitlines()
    if not differ and list(listing(rules)) != theirs:
        pairs = zip(listing(rules), theirs, strict=False)
        differ = [f"listed as {own!r}, not {other!r}" for own, other in pairs if own != other]
    return differ


@pytest.mark.parametrize("kind", ["by hand", pytest.param("at random", marks=pytest.mark.slow)])
def test_auditctl_takes_refuses_and_lists_as_the_reading_says(kind: str, cache_root: Path) -> None:
    lines = distinct(by_hand() if kind == "by hand" else at_random(RANDOM))
    assert min(map([line.rule is None for line in lines].count, (False, True))) > 100
    sets = [lines[start : start + SET] for start in range(0, len(lines), SET)]
    results = loaded(cache_root, sets)
    assert [one for pair in zip(sets, results, strict=True) for one in compared(*pair)] == []


@pytest.mark.slow
def test_rules_that_are_written_out_load_as_the_same_rules(cache_root: Path) -> None:
    lines = [line for line in distinct([*by_hand(), *at_random(SET)]) if line.rule is not None]
    again = [Line.of(text_of(line.rule)) for line in lines if line.rule is not None]
    first, second = loaded(cache_root, [lines, again])
    assert not second.refused
    assert second.listing == first.listing


def test_what_only_a_machine_can_tell_is_not_a_fault_of_the_line(cache_root: Path) -> None:
    apart = [Line.of(text) for text in APART]
    assert all(line.rule is not None for line in apart)
    (result,) = loaded(cache_root, [apart])
    assert result.refused == set(range(1, len(apart) + 1))


def test_some_lines_make_no_rule_and_auditctl_says_nothing(cache_root: Path) -> None:
    lines = [Line.of(text) for text in WITHOUT_A_RULE]
    (result,) = loaded(cache_root, [lines])
    assert (result.refused, result.loaded) == (frozenset(), 0)
    assert all(line.fault is not None for line in lines)


ODD = (
    "-w /tmp/a -p wa -k id\r",
    "-w /tmp/b -p wa\r",
    "-w /tmp/c\r",
    "-a always,exit -F arch=b64 -S execve -F key=x\r",
    "-a always,exit -F arch=b64 -S execve\r",
    "-a always,exit -F arch=b64 -S mount -F auid>=1000\r",
    "-f 1\r",
    "\r",
    "# note\r",
    "-w /tmp/d -k one\ttwo",
    "-w /tmp/e\t-p wa",
    "\t-w /tmp/f",
    '-w /tmp/g -k "quoted"',
    "-w /tmp/h -k 'two words'",
    '-w "/tmp/i"',
    "-a always,exit -F arch=b64 -S mount -k -F mounts",
    "-w /tmp/j -p wa # a comment",
    "-a always,exit -F arch=b64 -S 452 -F perm=a -k later",
    "-a always,exit -S 2045,2044,open -F dir=/tmp -F perm=wa -k classes",
    "-w /tmp/k -p wa -Z",
    "-b abc",
)


def test_odd_bytes_are_taken_and_refused_as_the_reading_says(cache_root: Path) -> None:
    read = [Line.of(text) for text in ODD]
    machine = VirtualMachine(Cache(cache_root), Hardware("tcg"))
    text = "\n".join([*PREAMBLE, *ODD, ""])
    (result,) = run_battery(machine, [WantedRules(text, calls=(), listed=True)]).sets
    ahead = len(PREAMBLE)
    refused = {ODD[line - ahead - 1] for line in result.refused if line > ahead}
    assert refused == {line.text for line in read if line.fault is not None}
    assert result.loaded == sum(line.rule is not None for line in read)
    assert '"quoted"' in (result.listing or "")
