"""What a program behind the filter gets: sockets of AF_UNIX, and no other by any way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from hardcost.host import no_network

FAMILIES = """
import errno, json, socket
got = {}
for family in range(64):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        for make in (socket.socket, socket.socketpair):
            try:
                made = make(family, kind)
            except OSError as error:
                got.setdefault(errno.errorcode[error.errno], set()).add(family)
            else:
                got.setdefault("", set()).add(family)
print(json.dumps({name: sorted(families) for name, families in got.items()}))
"""
IO_URING = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print([(libc.syscall(number, 1, 0, 0), ctypes.get_errno()) for number in (425, 426, 427)])
"""
X32 = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 41, {family}, 1, 0); print('made')"
# socket(AF_INET, SOCK_STREAM, 0) as i386 makes it: mov eax, 359; int 0x80; ret
I386 = """
import ctypes, mmap
code = bytes.fromhex("53 b8 67010000 bb 02000000 b9 01000000 ba 00000000 cd80 5b c3")
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
print("made")
"""


def behind(code: str) -> subprocess.CompletedProcess[str]:
    argv = [*no_network.words(), sys.executable, "-I", "-c", code]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def test_no_family_but_unix_has_sockets() -> None:
    done = behind(FAMILIES)
    got = json.loads(done.stdout)
    others = [family for family in range(64) if family != 1]
    assert got.pop("") == [1]
    assert got.pop("EAFNOSUPPORT") == others
    assert got in ({}, {"ESOCKTNOSUPPORT": [1]})  # AF_UNIX's own word on SOCK_RAW


def test_io_uring_which_can_make_sockets_does_not_exist() -> None:
    assert behind(IO_URING).stdout == "[(-1, 38), (-1, 38), (-1, 38)]\n"


@pytest.mark.parametrize("code", [X32.format(family=1), X32.format(family=40), I386])
def test_who_calls_as_another_architecture_is_killed(code: str) -> None:
    done = behind(code)
    assert (done.returncode, done.stdout) == (-signal.SIGSYS, "")


def test_what_a_program_starts_has_no_more() -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {FAMILIES!r}])"
    assert json.loads(behind(code).stdout)[""] == [1]


def test_a_program_that_is_missing_is_named() -> None:
    argv = [*no_network.words(), "hardcost-has-no-such-program"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1,
        "hardcost-has-no-such-program: No such file or directory\n",
    )
