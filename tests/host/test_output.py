"""What programs print without end: neither a disk nor memory gets more than the bound of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hardcost.errors import MachineError, TrialError
from hardcost.host import process
from hardcost.host.output import BoundedOutput
from hardcost.host.process import follow, output, running, talking

MOST = 1 << 20
LIMIT_SECONDS = 60.0


def run(argv: list[str], said: BoundedOutput) -> int | None:
    """Run a program to its end; return its status."""

    async def go() -> int | None:
        async with asyncio.timeout(LIMIT_SECONDS), running(argv, said=said) as started:
            return await started.wait()

    return asyncio.run(go())


def test_a_program_that_prints_without_end_is_killed_and_fills_no_disk(tmp_path: Path) -> None:
    said = BoundedOutput("the build", tmp_path / "log", MOST)
    with pytest.raises(MachineError, match="the build was killed: it printed more than 1024 KiB"):
        run(["sh", "-c", "yes & yes >&2"], said)
    assert (tmp_path / "log").stat().st_size == MOST
    assert len(said.tail) <= 1 << 14


def test_the_error_is_of_the_kind_that_came_of_it(tmp_path: Path) -> None:
    async def go() -> None:
        async with running(["yes"], said=BoundedOutput("QEMU", tmp_path / "log", MOST)) as started:
            await started.wait()
            raise TrialError("the guest was killed", console="the console")

    with pytest.raises(TrialError, match="QEMU was killed: it printed") as raised:
        asyncio.run(go())
    assert raised.value.console == "the console"


def test_all_is_there_when_a_program_has_ended(tmp_path: Path) -> None:
    """Asyncio may hear of the end before it reads what was printed last."""
    said = BoundedOutput("seq", tmp_path / "log")

    async def go() -> str:
        async with running(["seq", "9000"], said=said) as started:
            assert await started.wait() == 0
            return (tmp_path / "log").read_text()

    for _ in range(10):
        assert asyncio.run(go()) == "".join(f"{n}\n" for n in range(1, 9001))


def test_what_is_said_beside_a_conversation_is_bounded_and_its_end_is_known() -> None:
    async def go(script: str, said: BoundedOutput) -> bytes:
        argv = ["sh", "-c", script]
        async with (
            asyncio.timeout(LIMIT_SECONDS),
            talking(argv, said=said, patience=5) as (reader, _, started),
        ):
            answer = await reader.read()
            await started.wait()
            return answer

    quiet = BoundedOutput("sh", most=MOST)
    assert asyncio.run(go("echo answer; echo complaint >&2", quiet)) == b"answer\n"
    assert quiet.tail == b"complaint\n"
    loud = BoundedOutput("ssh", most=MOST)
    with pytest.raises(MachineError, match="ssh was killed: it printed more than 1024 KiB"):
        asyncio.run(go("echo answer; exec yes >&2", loud))
    assert len(loud.tail) <= 1 << 14


@pytest.mark.parametrize("script", ["exec yes", "exec yes >&2", "exec yes ''"])
def test_what_is_waited_for_prints_within_a_bound(
    script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_MOST_BYTES", MOST)
    said = "killed, since it printed more than 1 MiB: sh -c"
    with pytest.raises(MachineError, match=said):
        output(["sh", "-c", script], limit_seconds=LIMIT_SECONDS)
    with pytest.raises(MachineError, match=said):
        follow(["sh", "-c", script], lambda _: None, limit_seconds=LIMIT_SECONDS)


def test_a_program_that_closes_its_output_is_still_waited_for_within_its_time() -> None:
    with pytest.raises(MachineError, match="still running after 1 s"):
        output(["sh", "-c", "exec >&- 2>&-; sleep 60"], limit_seconds=1)


def test_a_line_without_end_comes_in_pieces() -> None:
    pieces: list[int] = []

    def heard(line: str | None) -> None:
        pieces.append(len(line or ""))
        if len(pieces) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        follow(["cat", "/dev/zero"], heard, limit_seconds=LIMIT_SECONDS)
    assert max(pieces) <= process._LONGEST_LINE + process._PIECE
