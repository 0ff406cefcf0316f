"""What a machine's shell sends is what is read on the machine itself."""

from __future__ import annotations

import base64
import subprocess
from importlib import resources

import pytest

from hardcost.in_force.files import MachineFiles
from hardcost.in_force.over_ssh import FetchedFiles, parsed
from hardcost.in_force.read import read
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.prices.listed import listed

SCRIPT = str(resources.files("hardcost.in_force").joinpath("look.sh"))
PATHS = " ".join(one.control.path for one in listed() if isinstance(one.control, Sysctl))


def looked() -> bytes:
    return subprocess.run(["sh", SCRIPT, PATHS], capture_output=True, check=True).stdout


def test_this_machine_is_seen_alike_by_its_shell() -> None:
    ours, theirs = read(MachineFiles()), read(parsed(looked()))
    assert theirs.found == ours.found
    assert theirs.notes == ours.notes
    assert set(ours.unseen) <= set(theirs.unseen)


def test_the_shell_changes_nothing_and_complains_of_nothing() -> None:
    ended = subprocess.run(["sh", SCRIPT, PATHS], capture_output=True, check=True)
    assert ended.stderr == b""


def code(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_each_kind_of_line_is_read() -> None:
    lines = (
        "user 0",
        f"name {code('there')}",
        f"denied {code('/etc/audit')}",
        f"file {code('/etc/sysctl.d/a.conf')} {code('kernel.sysrq=0')}",
        f"file {code('/etc/empty')} ",
        f"processes {code('auditd')}",
        f"command {code('auditctl -l')} {code('No rules')}",
    )
    found = parsed("\n".join(lines).encode())
    assert found == FetchedFiles(
        denied=["/etc/audit"],
        user=0,
        host="there",
        contents={"/etc/sysctl.d/a.conf": "kernel.sysrq=0", "/etc/empty": ""},
        commands={"auditctl -l": "No rules"},
        running=frozenset({"auditd"}),
    )
    assert found.live
    assert found.is_root
    assert found.names("/etc/sysctl.d") == ("a.conf",)
    assert found.output("auditctl", "-l") == "No rules"
    assert found.output("auditctl", "-s") is None


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"user root",
        b"user 0 0",
        b"hello",
        b"user 0\nfile !!! x",
        b"user 0\n\xff",
        b"user 0\nfile",
    ],
)
def test_another_answer_is_refused(answer: bytes) -> None:
    with pytest.raises((ValueError, KeyError)):
        parsed(answer)
