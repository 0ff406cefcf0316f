"""A worker whose standard input leads to who started it, over ssh: `hardcost worker --attended`.

First comes the lab's certificate, after a line with its length in bytes; 0: it has none, or one
that lies on the worker's host. Then nothing, until the end, which is the worker's end too.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine
from dataclasses import replace

from hardcost.errors import InputError
from hardcost.measure.workers.lab import Lab

_INPUT, _OUTPUTS = 0, (1, 2)  # descriptors
_LONGEST = 1 << 16  # bytes, of a certificate with its key
_LONGEST_NUMBER = 8  # digits and the line's end
_IGNORED = 4096  # bytes at a time


def introduction(lab: Lab) -> bytes:
    """Return what is sent to a worker of a lab first."""
    certificate = (lab.own or "").encode()
    return b"%d\n%s" % (len(certificate), certificate)


def receive_certificate(lab: Lab) -> Lab:
    """Return a lab with the certificate that comes on standard input.

    Raises:
        InputError: None comes.
    """
    line, text = b"", b""
    while len(line) < _LONGEST_NUMBER and not line.endswith(b"\n") and (more := os.read(_INPUT, 1)):
        line += more  # byte for byte, since nothing may be taken of what follows
    length = int(line) if line.strip().isdigit() else -1
    if length <= _LONGEST:
        while len(text) < length and (more := os.read(_INPUT, length - len(text))):
            text += more
    if len(text) != length:
        raise InputError("--attended is for `hardcost cluster ssh`, which has more to say")
    return replace(lab, own=text.decode("ascii", "replace") or None)


async def until_left(work: Coroutine[object, object, None]) -> None:
    """Do some work, until the end of standard input cancels it; what it prints then is not read."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def look() -> None:
        if os.read(_INPUT, _IGNORED):
            return
        loop.remove_reader(_INPUT)
        for number in _OUTPUTS:
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        if task is not None:
            task.cancel()

    loop.add_reader(_INPUT, look)
    try:
        await work
    finally:
        loop.remove_reader(_INPUT)
