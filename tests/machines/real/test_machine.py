"""This host as a machine: measured as an ordinary user, never changed, and nothing is left."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError, TrialError
from hardcost.machines.real.keeper_session import UnfitError
from hardcost.machines.real.local_journal import Book
from hardcost.machines.real.probe_session import exchange
from hardcost.protocol.answers import CallAnswer, CommandAnswer, all_of, only
from hardcost.protocol.ask import install
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Command, Request, Write
from tests.machines.real.stand_ins import calls, copied, in_place_of_the_probe, this_host

HELLO = '{"event":"hello","protocol":1,"probe":"0.1.0","kernel":"x","gap":null}'
CLOCK = '{"event":"clock","clock":"monotonic","overhead":[20]}'
END = '{"event":"end"}'
OURS = re.compile(r"work\.\d+|hardcost-[0-9a-f]{16}")


def left() -> set[str]:
    """Return what a probe and its scratch folders would leave behind."""
    return {
        one.name
        for one in Path("/tmp").iterdir()  # noqa: S108  (the probe works there)
        if OURS.fullmatch(one.name)
    }


def is_left(before: set[str]) -> set[str]:
    """Return what stays behind; the last folder, and those of tests beside this one, go soon."""
    until = time.monotonic() + 30
    while (left() - before) and time.monotonic() < until:
        time.sleep(0.1)
    return left() - before


def alive(word: str) -> list[int]:
    """Return the processes whose command line holds a word."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in line and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def test_calls_are_measured_by_an_ordinary_user_on_one_processor() -> None:
    before = left()
    machine = this_host()
    done = asyncio.run(machine.execute(Boot(), [calls("null", "exec")], 60))
    answers = all_of(done.answers, CallAnswer)
    assert [one.name for one in answers] == ["null", "exec"]
    assert all(one.uid == (os.getuid() or 1000) for one in answers)
    assert all(len(one.samples) == 9 and min(one.samples) > 0 for one in answers)
    assert done.surroundings["pinned"] == 1
    assert done.surroundings["switches"] > 0
    assert not is_left(before)


def test_while_another_run_changes_the_machine_nothing_is_measured_and_nobody_changes_it_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    machine = this_host()
    with Book(machine.name).hold_lock(alone=True) as is_ours:
        assert is_ours
        with pytest.raises(UnfitError, match="another run of hardcost changes host just now"):
            asyncio.run(machine.execute(Boot(), [calls("null")], 60))
    with Book(machine.name).hold_lock(alone=False):
        done = asyncio.run(machine.execute(Boot(), [calls("null")], 60))
        assert only(done.answers, CallAnswer).samples
        with Book(machine.name).hold_lock(alone=True) as is_ours:
            assert not is_ours
    shutil.rmtree(tmp_path / "hardcost")
    (tmp_path / "hardcost").write_text("no folder can be here")
    done = asyncio.run(machine.execute(Boot(), [calls("null")], 60))
    assert only(done.answers, CallAnswer).samples


def test_a_copy_makes_the_same_call_on_another_processor() -> None:
    before = left()
    machine = this_host()
    if len(machine.facts.cpus) < 2:
        pytest.skip("there is one processor")
    asked = calls("null", "open", samples=999).model_copy(update={"copies": 2})
    done = asyncio.run(machine.execute(Boot(), [asked], 60))
    answers = all_of(done.answers, CallAnswer)
    assert [list(one.companions) for one in answers] == [[str(machine.facts.cpus[0])]] * 2
    assert all(len(one.samples) == 999 for one in answers)
    assert done.surroundings["pinned"] == 1
    assert 0 < done.surroundings["companions"] < 2
    assert not is_left(before)
    assert machine.capabilities.processors == len(machine.facts.cpus)


def test_what_the_processor_counts_stands_beside_the_times() -> None:
    """Events that the kernel itself counts go the same way, on any machine."""
    machine = this_host()
    events = ("task-clock", "page-faults")
    counting = replace(machine, facts=replace(machine.facts, counters=events, uncounted=""))
    done = asyncio.run(counting.execute(Boot(), [calls("null", "page-fault", samples=40)], 60))
    null, fault = all_of(done.answers, CallAnswer)
    assert null.counters is not None
    assert fault.counters is not None
    assert null.counters.whole
    assert null.counters.windows == 10
    assert null.counters.counts.keys() == set(events)
    assert fault.counters.counts["page-faults"] >= 10 * fault.batch
    assert counting.environment(Boot())["counters"] == "task-clock, page-faults"


def test_without_counters_none_are_asked_for() -> None:
    machine = this_host()
    if machine.facts.counters:
        pytest.skip("this machine has some")
    done = asyncio.run(machine.execute(Boot(), [calls("null")], 60))
    assert only(done.answers, CallAnswer).counters is None
    assert "counters" not in machine.environment(Boot())
    assert machine.facts.uncounted


def test_a_program_is_installed_nowhere_but_in_a_scratch_folder() -> None:
    place = "/usr/local/bin/hardcost-test-program"
    program = Path(str(shutil.which("true"))).read_bytes()
    before = left()
    job: list[Request] = [
        install(place, program, 0o755),
        Command(clock="monotonic", argv=(place,), runs=2, enough=10**12),
    ]
    done = asyncio.run(this_host().execute(Boot(), job, 60))
    assert [one.status for one in all_of(done.answers, CommandAnswer)] == [0, 0]
    assert "pinned" not in done.surroundings
    assert not Path(place).exists()
    assert not is_left(before)


def test_what_would_change_the_machine_is_refused() -> None:
    machine = this_host()
    with pytest.raises(InputError, match="host is not to be changed: write"):
        asyncio.run(machine.execute(Boot(), [Write(path="/proc/sys/kernel/x", value="1")], 60))


def test_its_identity_is_of_the_machine_and_the_boot_and_says_no_machine_id() -> None:
    machine = this_host()
    identity = machine.identity(Boot())
    assert len(identity["boot_id"]) == 36
    assert machine.environment(Boot())["kernel"].startswith(os.uname().release)
    path = Path("/etc/machine-id")
    if path.exists():
        assert path.read_text().strip() not in str(identity)
    facts = machine.facts
    for other in (
        replace(facts, machine="another"),
        replace(facts, boot="another"),
        replace(facts, kernel="6.0 another"),
    ):
        assert replace(machine, facts=other).identity(Boot()) != identity


def test_an_interrupted_trial_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    """The program goes on for minutes, so the probe has to be ended from outside."""
    folder = copied(tmp_path / "programs")
    machine = this_host(folder)
    sleep = Path(str(shutil.which("sleep"))).read_bytes()
    job: list[Request] = [
        install("/opt/sleep-of-hardcost", sleep, 0o755),
        Command(clock="monotonic", argv=("/opt/sleep-of-hardcost", "300")),
    ]
    before = left()

    async def interrupted() -> None:
        task = asyncio.create_task(machine.execute(Boot(), job, 60))
        for _ in range(400):
            await asyncio.sleep(0.05)
            if alive("sleep-of-hardcost\x00300"):
                break
        assert left() - before
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(interrupted())
    assert not is_left(before)
    assert not alive("sleep-of-hardcost")
    assert not alive(str(folder))


def test_programs_may_lie_in_a_folder_with_spaces_and_quotes(tmp_path: Path) -> None:
    folder = copied(tmp_path / "it's a $HOME")
    done = asyncio.run(this_host(folder).execute(Boot(), [calls("null")], 60))
    assert only(done.answers, CallAnswer).name == "null"


def test_a_probe_that_does_not_start_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    machine = in_place_of_the_probe(tmp_path, "echo 'no luck\033[2J' >&2; exit 9")
    with pytest.raises(MachineError, match=r"did not start \(status 9\): no luck\?\[2J"):
        asyncio.run(machine.execute(Boot(), [calls("null")], 60))


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("yes '" + "x" * 10_000 + "'", "wrote without end"),
        (f"echo '{HELLO}'; printf '\\033]0;owned\\007\\n'", "an invalid answer: b'\\\\x1b"),
        (f"echo '{HELLO}'; sleep 60", "still running after 1 s"),
        (f"echo '{HELLO}'", "ended before its job was done"),
        (f"echo '{HELLO}'; echo '{END}'; exec cat /dev/zero", "wrote without end"),
    ],
)
def test_a_hostile_machine_is_an_error(tmp_path: Path, script: str, message: str) -> None:
    machine = in_place_of_the_probe(tmp_path, script)
    limit = 1 if "sleep" in script else 60
    with pytest.raises(TrialError, match=message.replace("'", ".")):
        asyncio.run(machine.execute(Boot(), [calls("null")], limit))


def test_a_clock_that_jumps_is_noticed(tmp_path: Path) -> None:
    call = (
        '{"event":"call","name":"null","clock":"monotonic","batch":1,'
        '"samples":[18446744073709551000],"uid":1000,"loginuid":null,"audit":null,"output":""}'
    )
    machine = in_place_of_the_probe(tmp_path, f"echo '{HELLO}\n{CLOCK}\n{call}\n{END}'")
    with pytest.raises(TrialError, match=r"null took 1.84e\+10 s by the machine's clock"):
        asyncio.run(machine.execute(Boot(), [calls("null")], 60))


def test_a_program_that_ends_early_takes_no_more_input() -> None:
    came = asyncio.run(exchange(["sh", "-c", "echo done"], b"x" * (4 << 20), 60))
    assert (came.written, came.status) == (b"done\n", 0)
