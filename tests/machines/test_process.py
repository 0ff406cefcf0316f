"""A program that is followed: heard while it runs, gone when the call is over."""

from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.machines.process import follow, run


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


def test_a_program_that_found_the_disk_full_has_that_for_a_remedy() -> None:
    script = "echo 'tar: x: Cannot write: No space left on device' >&2; exit 2"
    with pytest.raises(MachineError) as raised:
        run(["sh", "-c", script], remedy="is the archive whole?")
    assert raised.value.problems[0].hint == "no space is left on the disk: free some"
