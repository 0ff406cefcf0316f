"""A program that is followed: heard while it runs, gone when the call is over."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.host import process
from hardcost.host.process import follow, run


def test_each_line_is_heard_and_the_last_needs_no_end() -> None:
    heard: list[str | None] = []
    follow(["printf", "one\\ntwo"], heard.append)
    assert [line for line in heard if line is not None] == ["one", "two"]


def test_silence_is_heard_as_none() -> None:
    heard: list[str | None] = []
    follow(["sh", "-c", "sleep 1.5; echo done >&2"], heard.append)
    assert heard == [None, "done"]


def test_a_failed_program_is_an_error_with_its_last_words() -> None:
    with pytest.raises(MachineError, match=r"status 7: sh -c .*\nno luck") as raised:
        follow(["sh", "-c", "echo no luck; exit 7"], lambda _: None, remedy="try again")
    assert raised.value.problems[0].hint == "try again"


def test_a_missing_program_is_an_error() -> None:
    with pytest.raises(MachineError, match="not found"):
        follow(["hardcost-has-no-such-program"], lambda _: None)


def test_a_program_and_what_it_started_end_with_the_call(tmp_path: Path) -> None:
    """The one that it started holds the pipe; were it alive, the call would wait for seconds."""
    alive = tmp_path / "alive"

    def stop(line: str | None) -> None:
        if line == "ready":
            raise KeyboardInterrupt

    script = f"(sleep 5; touch {alive}) & echo ready; sleep 60"
    with pytest.raises(KeyboardInterrupt):
        follow(["sh", "-c", script], stop)
    assert not alive.exists()


def test_a_process_that_left_the_group_and_prints_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_DEATH_SECONDS", 1.0)
    left = tmp_path / "left"

    def stop(line: str | None) -> None:
        if line is not None:
            raise KeyboardInterrupt

    printing = f"touch {left}; for _ in $(seq 200); do echo y; sleep 0.1; done"
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        follow(["sh", "-c", f"setsid sh -c '{printing}' & sleep 100"], stop)
    assert left.exists()
    assert time.monotonic() - begun < 10


def test_a_program_that_found_the_disk_full_has_that_for_a_remedy() -> None:
    script = "echo 'tar: x: Cannot write: No space left on device' >&2; exit 2"
    with pytest.raises(MachineError) as raised:
        run(["sh", "-c", script], remedy="is the archive whole?")
    assert raised.value.problems[0].hint == "no space is left on the disk: free some"


def test_a_missing_program_is_named_with_its_remedy() -> None:
    with pytest.raises(MachineError, match="hardcost-has-no-such-program is not inst") as raised:
        run(["hardcost-has-no-such-program"], remedy="apt-get install it")
    assert raised.value.problems[0].hint == "apt-get install it"


def test_a_program_that_is_waited_for_ends_with_who_waits(tmp_path: Path) -> None:
    """`tar` went on to unpack Linux's source for minutes after hardcost was killed."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    script = "import sys; from hardcost.host.process import run; run(sys.argv[1:])"
    holder = ("sh", "-c", 'exec >"$0"; echo begun; exec sleep 60', str(pipe))
    waiting = subprocess.Popen([sys.executable, "-c", script, *holder])
    with pipe.open("rb", buffering=0) as end:
        assert end.read(6) == b"begun\n"
        waiting.send_signal(signal.SIGKILL)
        waiting.wait()
        assert select.select([end], [], [], 30)[0], "it goes on"
        assert end.read(1) == b""


@pytest.mark.parametrize("script", ["sleep 60 & sleep 60; true", "sleep 60 &"])
def test_what_a_program_started_ends_with_it_when_it_takes_too_long(
    tmp_path: Path, script: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(MachineError, match="still running after 1 s"):
        run(["sh", "-c", f"exec 3>{pipe}; echo begun >&3; {script}"], limit_seconds=1)
    assert os.read(end, 6) == b"begun\n"
    assert select.select([end], [], [], 10)[0], "it goes on"
    assert os.read(end, 1) == b""
    os.close(end)
