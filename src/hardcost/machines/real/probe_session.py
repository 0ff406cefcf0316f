"""A conversation with a probe that runs as a child, here or behind ssh: a job, and its answers.

Whatever comes back is hostile until it is parsed: it is bounded in size and in time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hardcost.errors import MachineError, TrialError
from hardcost.host.output import BoundedOutput
from hardcost.host.process import talking
from hardcost.protocol import answer_lines
from hardcost.protocol.answers import Answer
from hardcost.protocol.requests import Request

_MOST_BYTES = 64 << 20  # of all answers to a job
_MOST_COMPLAINTS = 1 << 20  # bytes, in all
_PIECE = 1 << 16
_PATIENCE_SECONDS = 5.0  # for a program to end after its input was closed
_SAID_BYTES = 2000  # of what a program complained about that an error repeats
_CONTROL = re.compile(r"[^\n\t -~]")


@dataclass(frozen=True)
class Exchange:
    """How a program ended: all that it wrote, its status, its complaints, and the seconds."""

    written: bytes
    status: int
    said: str
    seconds: float


async def converse(
    words: Callable[[int], list[str]],
    job: Sequence[Request],
    limit_seconds: float,
    *,
    remedy: str | None = None,
) -> tuple[tuple[Answer, ...], float]:
    """Start a probe, give it a job, and return its answers and the seconds that it took.

    `words` gets the job's length in bytes and returns the command.

    Raises:
        MachineError: It does not start; the message has what it complained about, and `remedy`.
        TrialError: It fails, takes longer than `limit_seconds`, answers without end, or what it
            answers is no answer.
    """
    lines = b"".join(json.dumps(one.as_json()).encode() + b"\n" for one in job)
    came = await exchange(words(len(lines)), lines, limit_seconds, stays_open=True)
    said = f": {came.said}" if came.said else ""
    if not came.written:
        raise MachineError(f"the probe did not start (status {came.status}){said}", hint=remedy)
    try:
        return answer_lines.parse_answers(came.written), came.seconds
    except TrialError as error:
        hint = error.problems[0].hint
        raise TrialError(f"{error}{said}", hint=hint, console=error.console) from None


async def exchange(
    argv: Sequence[str], sent: bytes, limit_seconds: float, *, stays_open: bool = False
) -> Exchange:
    """Start a program, send it all that, and return how it ended.

    What it reads ends after that, unless it `stays_open` until the program has said all it has.

    Raises:
        TrialError: It takes longer than `limit_seconds`, or writes without end.
        MachineError: It complains without end.
    """
    begun = time.monotonic()
    said = complaints(argv[0])
    try:
        async with (
            asyncio.timeout(limit_seconds),
            talking(argv, said=said, patience=_PATIENCE_SECONDS) as (reader, writer, process),
        ):
            sending = asyncio.ensure_future(_send(writer, sent, stays_open=stays_open))
            try:
                written = await _all_of(reader)
            finally:
                sending.cancel()
            status = await process.wait()
    except TimeoutError:
        raise TrialError(
            f"{argv[0]} was still running after {limit_seconds:.0f} s",
            hint="it is slow, busy or hangs; `--timeout` of `run` and `bill` gives it longer",
        ) from None
    return Exchange(written, status, text_of(said), time.monotonic() - begun)


async def _send(writer: asyncio.StreamWriter, sent: bytes, *, stays_open: bool) -> None:
    """Send all that, and unless it stays open, the end; a program that has gone takes none."""
    with contextlib.suppress(ConnectionError):
        writer.write(sent)
        await writer.drain()
        if not stays_open:
            writer.write_eof()


async def _all_of(reader: asyncio.StreamReader) -> bytes:
    """Return all that is written to a stream."""
    pieces, size = [], 0
    with contextlib.suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > _MOST_BYTES:
                raise TrialError("the probe wrote without end")
    return b"".join(pieces)


def last_line(said: str) -> str:
    """Return the last line of what a program complained about."""
    return (said.splitlines() or ["(it said nothing)"])[-1]


def complaints(program: str) -> BoundedOutput:
    """Return a buffer for the end of a program's standard error."""
    return BoundedOutput(f"{program}, or what it has started,", most=_MOST_COMPLAINTS)


def text_of(said: BoundedOutput) -> str:
    """Return the end of what a program complained about, without what acts on a terminal."""
    text = said.tail[-_SAID_BYTES:].decode(errors="replace").replace("\r\n", "\n")
    return _CONTROL.sub("?", text).strip()
