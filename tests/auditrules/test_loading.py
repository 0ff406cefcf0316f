"""What becomes of lines when they are loaded, held to what auditctl 3.0.9 and the kernel do."""

from __future__ import annotations

import pytest

from hardcost.auditrules.loading import Fate, LoadedLines, load_lines
from hardcost.auditrules.parse import read_bytes
from hardcost.auditrules.translate import AS_WRITTEN

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


def test_many_rules_and_deletions_are_worked_out_in_one_pass() -> None:
    many = [f"-a always,exit -F arch=b64 -S mount -F a0={number} -k k" for number in range(3000)]
    found = loaded(*many, *(line.replace("-a", "-d", 1) for line in many))
    assert found.rules == ()
    assert all(line.fate is Fate.DELETED for line in found.lines)
