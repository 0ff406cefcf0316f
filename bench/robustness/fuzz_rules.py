"""Fuzz the reader of audit rules: does any input make it crash, hang, or take too long?

    python -m bench.robustness.fuzz_rules                           # a million inputs
    python -m bench.robustness.fuzz_rules --inputs 20000 --seed 7
    python -m bench.robustness.fuzz_rules --atheris 1000000         # guided by coverage

Inputs are lines that auditctl was tested on, mutated: bytes flipped, inserted, deleted and
duplicated, words exchanged, lines joined. Each is read, loaded, translated, written and read again.
Valid results are rules and faults. An exception, a rule that comes back as another one, or more
than `SLOWEST_SECONDS` for one input is a failure, and the input is printed. Then files of growing
size are read, in shapes designed to be slow; the slope of time over size, both as logarithms,
should be near 1.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import math
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from audit_rules.tests.lines import at_random, by_hand
from auditrules.auditctl.translate import translate, translate_all
from auditrules.auditctl.write import UnwritableRuleError, listed_line, text_of
from auditrules.load import load
from auditrules.model.location import Location
from auditrules.model.rule import RuleKind
from auditrules.read import parse

SLOWEST_SECONDS = 5  # for one input of a few hundred bytes
SIZES = (4_000, 8_000, 16_000, 32_000, 64_000)  # lines
STEEPEST = 1.2
_STRANGE = [
    b"\\", b"\\ ", b"\\\\", b"\t", b"\r", b"\n", b"\0", b"\x01", b"\x07", b"\xff", b"\xc3", b" ",
    b"-", b"--", b"=", b",", b"#", b"!=", b"\xc2\xb2", b"\xef\xbb\xbf", b"9" * 40, b"0x", b"/" * 9,
]  # fmt: skip

SHAPES: dict[str, Callable[[int], str]] = {
    "rules": lambda n: f"-a always,exit -F arch=b64 -S open,read -F auid>={n} -k k{n}\n",
    "watches": lambda n: f"-w /etc/{n} -p wa -k k{n}\n",
    "misspelt": lambda n: f"-a always,exit -S open{n}x -F aud{n}=1\n",
    "unknown options": lambda n: f"-Z{n} --option{n}\n",
    "not text": lambda n: f"\x7f{n}\xff\n",
    "deleted again": lambda n: f"-w /a/{n} -k a{n}\n-W /a/{n} -k a{n}\n",
    "deleted in vain": lambda n: f"-w /a/{n}\n-W /b/{n}\n",
    "deleted by key": lambda n: f"-w /a/{n} -k a{n}\n-D -k b{n}\n",
    "many calls": lambda n: f"-a always,exit -S {','.join(str(n % 99 + i) for i in range(99))}\n",
    "many fields": lambda n: "-a always,exit -S 1" + f" -F uid!={n}" * 60 + "\n",
    "backslashes": lambda n: "-w /" + "\\\\" * 90 + f"{n}\n",
    "settings": lambda n: f"-b {n} -r {n} --backlog_wait_time {n}\n",
}


def main() -> None:
    """Fuzz, measure the growth of time, and print the results."""
    parser = argparse.ArgumentParser(description="Fuzz the reader of audit rules.")
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--atheris", type=int, metavar="INPUTS", help="instead of our own inputs")
    options = parser.parse_args()
    if options.atheris:
        guided(options.atheris, options.seed)
        return
    found = fuzz(options.inputs, options.seed)
    steep = growth()
    sys.exit(1 if found or steep else 0)


# Inputs -----------------------------------------------------------------------------------------


def fuzz(inputs: int, seed: int) -> int:
    """Try many inputs; return the number of failures."""
    generator = random.Random(seed)  # noqa: S311  (no secret)
    seeds = [line.encode() for line in [*by_hand(), *at_random(300)]]
    words = sorted({word for line in seeds for word in line.split(b" ")})
    seen: Counter[str] = Counter()
    wrong = 0
    slowest = 0.0
    begun = time.monotonic()
    for number in range(inputs):
        data = mutated(generator, seeds, words)
        started = time.process_time()
        try:
            with limited(SLOWEST_SECONDS):
                seen.update(tried(data))
        except Exception as error:  # noqa: BLE001  (any is a finding)
            wrong += 1
            print(f"WRONG {type(error).__name__}: {error}\n      {data!r}", flush=True)
        slowest = max(slowest, time.process_time() - started)
        if number and number % 100_000 == 0:
            print(f"  {number:,} inputs, {wrong} wrong", file=sys.stderr, flush=True)
    seconds = time.monotonic() - begun
    print(f"{inputs:,} inputs of seed {seed} in {seconds:.0f} s: {wrong} went wrong")
    print(f"  the slowest took {slowest * 1000:.1f} ms of the processor")
    print("  lines: " + ", ".join(f"{count:,} {what}" for what, count in sorted(seen.items())))
    return wrong


def mutated(generator: random.Random, seeds: list[bytes], words: list[bytes]) -> bytes:
    """Return one to three lines, each changed up to six times."""
    lines = []
    for _ in range(generator.choice((1, 1, 1, 2, 3))):
        line = bytearray(generator.choice(seeds))
        for _ in range(generator.randrange(7)):
            change(generator, line, words)
        lines.append(bytes(line))
    return generator.choice((b"\n", b"\n", b"", b"\n\n")).join(lines)


def change(generator: random.Random, line: bytearray, words: list[bytes]) -> None:
    """Change a line in one place."""
    at = generator.randrange(len(line) + 1)
    kind = generator.randrange(7)
    if kind == 0 and at < len(line):
        line[at] ^= 1 << generator.randrange(8)
    elif kind == 1:
        line[at:at] = generator.choice(_STRANGE)
    elif kind == 2:  # noqa: PLR2004  (a kind)
        del line[at : at + generator.randrange(1, 9)]
    elif kind == 3:  # noqa: PLR2004
        line[at:at] = line[at : at + generator.randrange(1, 30)] * generator.choice((1, 1, 2, 60))
    elif kind == 4:  # noqa: PLR2004
        line[at:at] = b" " + generator.choice(words) + b" "
    elif kind == 5:  # noqa: PLR2004
        parts = line.split(b" ")
        parts[generator.randrange(len(parts))] = bytearray(generator.choice(words))
        line[:] = b" ".join(parts)
    else:
        line[at:at] = generator.randbytes(generator.randrange(1, 5))


def tried(data: bytes) -> Iterator[str]:
    """Read bytes, check the results, and yield the kind of each line."""
    readings = parse.read_bytes(data, "x.rules")
    rule_set, of_deletions = load.combine(readings)
    rules, of_rules = translate_all(rule_set.rules)
    for reading in readings:
        if (reading.kind is RuleKind.FAULT) is (reading.fault is None):
            raise AssertionError(f"{reading.kind} with the fault {reading.fault}")
        yield str(reading.kind)
    for fault in (*of_deletions, *of_rules):
        if fault.place.file != "x.rules" or not 1 <= (fault.place.line or 0) <= len(readings):
            raise AssertionError(f"the fault {fault} has no place")
        yield "rule refused"
    for rule in rules:
        if not listed_line(rule):
            raise AssertionError("a rule is listed as nothing")
        try:
            text = text_of(rule)
        except UnwritableRuleError:
            yield "rule that can't be written"
            continue
        again = parse.read_line(text, Location("again", 1)).rule
        if again is None or translate(again) != rule:
            raise AssertionError(f"it comes back as another rule: {text}")
        yield "rule written"


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise `TimeoutError` if the body takes longer."""

    def late(_number: int, _frame: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def guided(inputs: int, seed: int) -> None:
    """Let atheris choose the inputs, by the code they reach; it ends the process."""
    atheris: Any = importlib.import_module("atheris")  # not one of hardcost's dependencies
    atheris.instrument_all()
    folder = Path("build/fuzz-rules")
    folder.mkdir(parents=True, exist_ok=True)
    for number, line in enumerate(by_hand()):
        (folder / f"line{number}").write_bytes(line.encode())
    words = [sys.argv[0], f"-runs={inputs}", f"-seed={seed or 1}", f"-timeout={SLOWEST_SECONDS}"]
    atheris.Setup([*words, "-max_len=600", str(folder)], lambda data: Counter(tried(data)))
    atheris.Fuzz()


# Growth -----------------------------------------------------------------------------------------


def growth() -> int:
    """Read files of growing size; return how many shapes take too long."""
    sizes = "".join(f"{size:>9,}" for size in SIZES)
    print(f"\n{'processor seconds for lines':40}{sizes}   slope")
    steep = 0
    for name, line in SHAPES.items():
        times = [seconds(line, size) for size in SIZES]
        slope = fitted(times)
        steep += slope > STEEPEST
        shown = "".join(f"{one:9.3f}" for one in times)
        print(f"  {name:38}{shown}   {slope:5.2f}", flush=True)
    return steep


def seconds(line: Callable[[int], str], size: int) -> float:
    """Return how long it takes to read and translate a file; a shape may have two lines for one."""
    content = "".join(line(number) for number in range(size)).encode(errors="surrogateescape")
    lines = content.split(b"\n")[:size]
    content = b"\n".join(lines) + b"\n"
    started = time.process_time()
    rule_set, _ = load.combine(parse.read_bytes(content, "x.rules"))
    translate_all(rule_set.rules)
    return time.process_time() - started


def fitted(times: list[float]) -> float:
    """Return the slope of log(time) over log(size), by least squares."""
    pairs = [(math.log(size), math.log(one)) for size, one in zip(SIZES, times, strict=True)]
    middle = [sum(column) / len(pairs) for column in zip(*pairs, strict=True)]
    over = sum((x - middle[0]) * (y - middle[1]) for x, y in pairs)
    return float(over / sum((x - middle[0]) ** 2 for x, _ in pairs))


if __name__ == "__main__":
    main()
