"""What becomes of lines when they are loaded, held to what auditctl 3.0.9 and the kernel do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auditrules.auditctl.translate import AS_WRITTEN
from auditrules.load import load
from auditrules.load.load import Fate, LoadedLines, load_lines
from auditrules.model import kernel_lists
from auditrules.model.rule import Reading
from auditrules.read.parse import read_bytes

WATCH = "-w /etc/shadow -p wa -k s"
CALL = "-a always,exit -F arch=b64 -S mount -k m"


def loaded(*lines: str, parts: int = 1) -> LoadedLines:
    text = "".join(f"{line}\n" for line in lines).encode()
    readings = read_bytes(text, "x")
    size = -(-len(readings) // parts)
    return load_lines([readings[at : at + size] for at in range(0, len(readings), size)])


def fates(*lines: str) -> list[Fate]:
    return [line.fate for line in loaded(*lines).lines]


def test_each_line_has_its_fate() -> None:
    lines = (WATCH, CALL, CALL, "-Z", "-a always,exit -S nosuch", "-D -k m", "-e 2", "-w /late")
    assert fates(*lines) == [
        Fate.LOADED, Fate.DELETED, Fate.TWICE, Fate.UNREADABLE, Fate.REFUSED, Fate.LOCKED,
    ]  # fmt: skip


def test_loading_stops_at_the_first_line_that_nobody_tolerates() -> None:
    assert loaded(WATCH, CALL).stops_at is None
    found = loaded(WATCH, WATCH, "-Z", CALL).stops_at
    assert found is not None
    assert (found.fate, found.reading.place.line) == (Fate.TWICE, 2)


@pytest.mark.parametrize("word", ["-i", "-c"])
def test_a_line_that_asks_to_go_on_is_heeded_from_there_on(word: str) -> None:
    assert loaded(word, "-Z", WATCH, WATCH).stops_at is None
    above = loaded("-Z", word, WATCH).stops_at
    assert above is not None
    assert above.reading.place.line == 1
    # another auditctl loads the next file, and has not been asked
    assert loaded(word, WATCH, "-Z", CALL, parts=2).stops_at is not None


def test_whether_a_deletion_is_of_a_watch_may_depend_on_what_lies_there() -> None:
    explicit = "-d always,exit -F dir=/etc/shadow -F perm=wa -k s"
    (_, deletion) = loaded(WATCH, explicit).lines
    assert deletion.fate is Fate.FUTILE
    assert deletion.fault is not None
    assert "depends on what lies at the watched path" in deletion.fault.message
    slash = read_bytes(f"{WATCH.replace('shadow', 'shadow/')}\n{explicit}\n".encode(), "x")
    assert load_lines([slash], AS_WRITTEN).rules == ()


def test_a_watch_is_the_same_with_and_without_a_slash() -> None:
    assert fates(WATCH, WATCH.replace("shadow", "shadow/")) == [Fate.LOADED, Fate.TWICE]
    assert loaded(WATCH, WATCH.replace("-w", "-W")).rules == ()


RULES = (
    "always,exit -F arch=b64 -S mount -k m",
    "always,exit -F path=/etc/shadow -F perm=wa -k s",
    "always,exit -F dir=/etc -F perm=wa -k d",
    "never,user -F uid=5",
    "always,exit -S nosuch -k m",
)
LINES = (
    *(f"{how} {rule}" for how in ("-a", "-a", "-A", "-A", "-d") for rule in RULES),
    "-w /etc/shadow -p wa -k s", "-W /etc/shadow -p wa -k s", "-D", "-D -k m", "-D -k s", "-Z",
    "-e 2",
)  # fmt: skip


def by_the_book(lines: list[str]) -> tuple[list[int], dict[int, int]]:
    """Return which lines' rules stay, and which line deletes which: a kernel's list, step by step.

    What is the same is compared as text; a watch is what auditctl makes of it.
    """
    front: list[int] = []
    back: list[int] = []
    refused: list[int] = []
    deleted: dict[int, int] = {}
    meant = [
        line.replace("-w /", "-a always,exit -F path=/").replace("-W /", "-d always,exit -F path=/")
        .replace("-p wa", "-F perm=wa")
        for line in lines
    ]  # fmt: skip
    for at, line in enumerate(meant):
        if line == "-e 2":
            break
        how, _, rule = line.partition(" ")
        there = [one for one in (*front, *back) if meant[one].partition(" ")[2] == rule]
        if how == "-D":
            gone = [
                one for one in (*front, *back, *refused) if not rule or meant[one].endswith(rule)
            ]
        elif how == "-d":
            gone = there[:1]
        else:
            gone = []
        if how in {"-a", "-A"}:
            wrong = "nosuch" in rule or (how == "-a" and there)
            (refused if wrong else front if how == "-A" else back).append(at)
            front.sort(reverse=True)
        for one in gone:
            deleted[one] = at
            next(part for part in (front, back, refused) if one in part).remove(one)
    return sorted((*front, *back)), deleted


@settings(deadline=None)  # a busy machine is no fault
@given(st.lists(st.sampled_from(LINES), max_size=25))
def test_what_stays_is_what_a_list_kept_step_by_step_holds(lines: list[str]) -> None:
    text = "".join(f"{line}\n" for line in lines).encode()
    found = load_lines([read_bytes(text, "x")], AS_WRITTEN).lines
    stay = [one.reading.place.line for one in found if one.fate is Fate.LOADED]
    gone = {
        one.reading.place.line: one.deleted_by.line for one in found if one.deleted_by is not None
    }
    expected, deleted = by_the_book(lines)
    assert stay == [at + 1 for at in expected]
    assert gone == {at + 1: by + 1 for at, by in deleted.items()}


def many(how_many: int) -> list[str]:
    """Lines of which half add rules and half take them away, in all the ways that there are."""
    size = how_many // 4
    calls = [f"-a always,exit -F arch=b64 -S mount -F a0={number} -k k" for number in range(size)]
    prepended = ["-A always,exit -F path=/etc/shadow -F perm=wa -k s"] * size
    maybe = "-d always,exit -F dir=/etc/shadow -F perm=wa -k s"  # where it is not known what it is
    by_key = ["-D -k nothing"] * (size // 100)
    return [
        "-i", *calls, *prepended, *[maybe] * (size // 2), *by_key,
        *(line.replace("-A", "-d", 1) for line in prepended[size // 2 :]),
        *(line.replace("-a", "-d", 1) for line in reversed(calls)),
    ]  # fmt: skip


def steps(readings: tuple[Reading, ...]) -> int:
    """Return how many instructions of Python it takes to find out what becomes of lines."""
    files = {load.__file__, kernel_lists.__file__}
    count = 0

    def trace(frame: FrameType, event: str, _about: object) -> Callable[..., Any] | None:
        nonlocal count
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        load_lines([readings])
    finally:
        sys.settrace(before)
    return count


def test_ten_thousand_lines_take_ten_times_the_steps_of_one_thousand() -> None:
    few, lots = (
        read_bytes("".join(f"{line}\n" for line in many(size)).encode(), "x")
        for size in (1_000, 10_000)
    )
    per_line = steps(few) / len(few)
    assert steps(lots) / len(lots) < 1.05 * per_line


def test_many_rules_and_deletions_leave_what_they_are_to_leave() -> None:
    found = load_lines([read_bytes("".join(f"{one}\n" for one in many(4_000)).encode(), "x")])
    assert [rule.path for rule in found.rules] == ["/etc/shadow"] * 500
    assert len(found.of(Fate.DELETED)) == 1_500
    assert len(found.of(Fate.FUTILE)) == 500
