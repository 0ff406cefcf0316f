"""Whatever bytes are given: rules, or faults that say where; and no more work than for their size.

`bench/robustness/fuzz_rules.py` does the same a million times.
"""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit_rules.tests.lines import by_hand
from auditrules.auditctl.translate import translate, translate_all
from auditrules.auditctl.write import UnwritableRuleError, listed_line, text_of
from auditrules.load import load
from auditrules.model.fault import RulesError
from auditrules.model.location import Location
from auditrules.model.rule import RuleKind
from auditrules.read import parse

LINES = by_hand()
WORDS = sorted({word for line in LINES for word in line.split(" ")})
STRANGE = [
    "\\",
    "\\ ",
    "\\\\",
    "\t",
    "\r",
    "\x00",
    "\x01",
    "²",
    "é",
    "\ufeff",
    "-",
    "--",
    "=",
    ",",
    "",
]


def any_line() -> st.SearchStrategy[bytes]:
    words = st.lists(st.sampled_from([*WORDS, *STRANGE]), max_size=10).map(" ".join)
    real = st.sampled_from(LINES)
    text = st.text(max_size=30)
    spliced = st.builds(
        lambda line, at, put: line[: at % (len(line) + 1)] + put + line[at % (len(line) + 1) :],
        real,
        st.integers(0, 200),
        st.one_of(text, st.sampled_from(STRANGE)),
    )
    return st.one_of(
        st.binary(max_size=60),
        st.one_of(words, real, spliced).map(lambda line: line.encode(errors="surrogatepass")),
    )


@settings(
    max_examples=3 * settings().max_examples,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(st.lists(any_line(), max_size=8).map(b"\n".join))
def test_any_bytes_come_to_rules_or_to_faults_with_their_place(data: bytes) -> None:
    readings = parse.read_bytes(data, "x.rules")
    rule_set, of_deletions = load.combine(readings)
    rules, of_rules = translate_all(rule_set.rules)
    of_lines = [reading.fault for reading in readings if reading.fault]
    assert all((one.kind is RuleKind.FAULT) is (one.fault is not None) for one in readings)
    for fault in (*of_lines, *of_deletions, *of_rules):
        assert fault.place.file == "x.rules"
        assert 1 <= (fault.place.line or 0) <= len(readings)
        assert fault.place.column is None or fault.place.column >= 1
    for rule in rules:
        assert listed_line(rule)
        try:
            text = text_of(rule)
        except UnwritableRuleError:
            continue
        again = parse.read_line(text, Location("again", 1)).rule
        assert again is not None
        assert translate(again) == rule


def calls_made(data: bytes) -> int:
    """Return how many functions are called to read bytes, which repeats exactly."""
    count = 0

    def seen(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(seen)
    try:
        rule_set, _ = load.combine(parse.read_bytes(data, "x.rules"))
        translate_all(rule_set.rules)
    finally:
        sys.setprofile(None)
    return count


SHAPES = {
    "rules": "-a always,exit -F arch=b64 -S open,{n} -F auid>={n} -F path=/a/{n} -k k{n}\n",
    "misspelt": "-a always,exit -S open{n}x -F aud{n}=1\n",
    "options": "-Z{n} -w /x\n",
    "deleted again": "-w /a/{n} -k a{n}\n-W /a/{n} -k a{n}\n",
    "deleted in vain": "-w /a/{n}\n-W /b/{n}\n",
    "no text": "\x7f{n}\n",
}
LONG = {
    "words": ("-a always,exit {}\n", "-S 5 "),
    "calls": ("-a always,exit -S open{}\n", ",{n}"),
    "backslashes": ("-w /{}\n", "\\\\"),
}


# What was read is kept for a while: no number comes twice. They have the same number of digits.


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_lines_take_no_more_than_twice_the_work(shape: str) -> None:
    def work(start: int, count: int) -> int:
        numbers = range(start, start + count)
        return calls_made("".join(SHAPES[shape].format(n=number) for number in numbers).encode())

    work(100_000, 10)
    assert work(200_000, 800) < work(300_000, 400) * 2.1


@pytest.mark.parametrize("shape", LONG)
def test_a_line_twice_as_long_takes_no_more_than_twice_the_work(shape: str) -> None:
    line, filler = LONG[shape]

    def work(start: int, count: int) -> int:
        numbers = range(start, start + count)
        return calls_made(line.format("".join(filler.format(n=one) for one in numbers)).encode())

    work(1, 10)
    once, twice = work(1100, 400), work(1200, 800)
    assert twice < max(once * 2.1, once + 50)


def test_a_file_of_faults_tells_all_of_them() -> None:
    with pytest.raises(RulesError) as caught:
        parse.read_lines((f"nonsense {number}", Location("x", number)) for number in range(5000))
    assert len(caught.value.faults) == 5000
