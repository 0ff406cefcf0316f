"""Each export is read by the tool that it is for, and has what the profile has."""

import json
import re
import subprocess
from pathlib import Path

from hardcost.model.finding.calls import Hotspots, Stack
from hardcost.model.role import role_of
from hardcost.model.workload import Workload
from hardcost.show.exports.folded import folded
from hardcost.show.exports.pprof import pprof
from hardcost.show.exports.speedscope import speedscope

STACKS = (
    Stack(("[clock]",), -3, -3),
    Stack(("p", "f"), 100, 100),
    Stack(("p", "f", "g"), 20, 0),
    Stack(("p", "f", "new;\x1b"), 0, 7000),
    Stack(("q", "g"), 0, 0.5),
)


def profile(metric: str = "open", stacks: tuple[Stack, ...] = STACKS) -> Hotspots:
    return Hotspots(
        Workload("syscalls"),
        metric,
        "insn/op",
        role_of("baseline"),
        role_of("profile"),
        1,
        1,
        (),
        (),
        stacks,
    )


WHOLE = profile(stacks=STACKS[:-1])


def test_folded_stacks_have_one_column_or_two() -> None:
    assert folded([WHOLE], columns=1) == "p;f 100\np;f;new:\\x1b 7000\n"
    assert folded([WHOLE], columns=2) == "p;f 100 100\np;f;g 20 0\np;f;new:\\x1b 0 7000\n"
    both = folded([WHOLE, profile("null", STACKS[1:2])], columns=1)
    assert both == "open;p;f 100\nopen;p;f;new:\\x1b 7000\nnull;p;f 100\n"


def test_halves_of_instructions_make_everything_twice_as_large() -> None:
    assert folded([profile()], columns=1).splitlines()[-1] == "q;g 1"
    assert "p;f 200\n" in folded([profile()], columns=1)
    assert "(instructions/2)" in speedscope([profile()], "a")


def test_speedscope_gets_a_profile_for_each_side() -> None:
    document = json.loads(speedscope([WHOLE], "a title"))
    frames = [frame["name"] for frame in document["shared"]["frames"]]
    sides = {one["name"]: one for one in document["profiles"]}
    assert list(sides) == ["open, baseline (instructions)", "open, profile (instructions)"]
    for one, total in zip(sides.values(), (120, 7100), strict=True):
        assert one["type"] == "sampled"
        assert len(one["samples"]) == len(one["weights"])
        assert one["endValue"] - one["startValue"] == sum(one["weights"]) == total
    after = sides["open, profile (instructions)"]
    stacks = [[frames[number] for number in sample] for sample in after["samples"]]
    assert stacks == [["p", "f"], ["p", "f", "new;\\x1b"]]


def test_pprof_reads_what_functions_execute(tmp_path: Path) -> None:
    path = tmp_path / "profile.pb.gz"
    path.write_bytes(pprof([WHOLE, profile("null", STACKS[1:2])]))
    words = ["go", "tool", "pprof", "-raw", str(path)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    assert "before/instructions after/instructions[dflt]" in done.stdout
    samples = [
        line.split() for line in done.stdout.splitlines() if ": " in line and "0x" not in line
    ]
    values = [(int(words[0]), int(words[1].rstrip(":"))) for words in samples if words[0].isdigit()]
    assert [pair for pair in values if sum(pair)][:4] == [
        (100, 100),
        (20, 0),
        (0, 7000),
        (100, 100),
    ]
    places = dict(re.findall(r"^ *(\d+): 0x\w+ (?:M=\d+ )?(\S+)", done.stdout, re.MULTILINE))
    stacks = [[places[number] for number in words[2:]] for words in samples if words[0] == "20"]
    assert stacks == [["g", "f", "p"]]  # the function that executes comes first
    assert "metric:[open]" in done.stdout
    assert "metric:[null]" in done.stdout
    assert pprof([WHOLE]) == pprof([WHOLE])
