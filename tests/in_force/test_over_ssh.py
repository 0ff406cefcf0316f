"""What a machine's shell sends is what is read on the machine itself."""

from __future__ import annotations

import base64
import os
import subprocess
from importlib import resources

import pytest

from hardcost.errors import MachineError
from hardcost.in_force import audit, bpf
from hardcost.in_force.calls import Sample, counted, counting_script
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.found import Survey
from hardcost.in_force.over_ssh import FetchedFiles, parsed
from hardcost.in_force.read import read
from hardcost.mechanisms.audit import AuditRule
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.prices.listed import listed

LOOK = resources.files("hardcost.in_force").joinpath("look.sh").read_text("utf-8")
SCRIPT = f"{counting_script()}\n{LOOK}"
PATHS = " ".join(one.control.path for one in listed() if isinstance(one.control, Sysctl))


def looked(*words: str) -> bytes:
    argv = ["sh", "-c", SCRIPT, "sh", PATHS, *words]
    ended = subprocess.run(argv, capture_output=True, check=True)
    assert ended.stderr == b""  # it complains of nothing
    return ended.stdout


def test_this_machine_is_seen_alike_by_its_shell() -> None:
    ours, theirs = read(MachineFiles()), read(parsed(looked()))
    assert theirs.found == ours.found
    assert theirs.notes == ours.notes
    assert set(ours.unseen) <= set(theirs.unseen)


def test_calls_are_counted_where_they_are_made() -> None:
    sample = Sample(1)
    there = counted(parsed(looked(*sample.words)).count_calls(sample))
    here = counted(MachineFiles().count_calls(sample))
    assert there.by == here.by
    assert min(there.calls, here.calls) > 0
    assert parsed(looked()).counted == ""


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
        f"failed {code('auditctl -s')} {code('Operation not permitted')}",
    )
    found = parsed("\n".join(lines).encode())
    assert found == FetchedFiles(
        denied=["/etc/audit"],
        user=0,
        host="there",
        contents={"/etc/sysctl.d/a.conf": "kernel.sysrq=0", "/etc/empty": ""},
        commands={"auditctl -l": "No rules"},
        failures={"auditctl -s": "Operation not permitted"},
        running=frozenset({"auditd"}),
    )
    assert found.live
    assert found.is_root
    assert found.names("/etc/sysctl.d") == ("a.conf",)
    assert found.output("auditctl", "-l") == "No rules"
    assert found.output("auditctl", "-x") is None
    with pytest.raises(MachineError, match="Operation not permitted"):
        found.output("auditctl", "-s")


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


PROGRAMS = """[
{"id": 3, "type": "cgroup_device", "name": "sd_devices", "pids": [{"pid": 1, "comm": "systemd"}]},
{"id": 7, "type": "kprobe", "name": "a", "pids": [{"pid": 9, "comm": "tetragon\\u001b[2J"}]},
{"id": 8, "type": "kprobe", "name": "b", "pids": [{"pid": 9, "comm": "tetragon\\u001b[2J"}]},
{"id": 9, "type": "lsm", "name": "c"},
{"id": 10, "type": "tracing", "name": "d", "pids": [{"pid": 11, "comm": "bpftool"}]}
]"""


def bpf_of(said: str) -> Survey:
    lines = ("user 0", f"name {code('there')}", f"processes {code('')}")
    asked = f"command {code('bpftool -j prog show')} {code(said)}"
    return bpf.read(parsed("\n".join((*lines, asked)).encode()))


def test_bpf_programs_that_look_or_decide_are_named_by_their_holders() -> None:
    found = bpf_of(PROGRAMS).found
    assert [(one.name, one.note) for one in found] == [
        ("BPF programs of no process", "1 lsm"),
        (r"BPF programs of tetragon\x1b[2J", "2 kprobe"),
    ]


@pytest.mark.parametrize(
    "said", ["", "x", "{}", "5", "[5]", '[{"type": "lsm", "pids": 5}]', "[" * 99999]
)
def test_what_bpftool_should_not_print_is_said(said: str) -> None:
    found = bpf_of(said)
    assert not found.found
    assert "can't be read" in found.unseen[0]


def survey_of(*commands: str) -> Survey:
    lines = ("user 0", f"name {code('there')}", f"processes {code('')}", *commands)
    return audit.read(parsed("\n".join(lines).encode()))


def test_what_auditctl_could_not_say_is_not_no_rules() -> None:
    found = survey_of(f"failed {code('auditctl -l')} {code('Operation not permitted')}")
    assert "Operation not permitted" in found.unseen[0]
    assert found.blind
    without = survey_of()
    assert "auditctl is not installed" in without.unseen[0]


@pytest.mark.parametrize("digits", ["0", "00", "1" * 5000, "\u00b2"])
def test_odd_states_of_audit_are_no_fault(digits: str) -> None:
    found = survey_of(
        f"command {code('auditctl -l')} {code('-w /etc/shadow -p wa')}",
        f"command {code('auditctl -s')} {code(f'enabled {digits}')}",
    )
    rules = [one for one in found.found if one.kind == "audit rule"]
    assert len(rules) == (0 if digits.startswith("0") else 1)


NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def test_another_user_is_shown_what_could_not_be_seen() -> None:
    """What the shell of a user without rights sends names what only root may see."""
    words = NOBODY if os.geteuid() == 0 else ()
    argv = [*words, "sh", "-c", SCRIPT, "sh", PATHS]
    sent = subprocess.run(argv, capture_output=True, check=True, cwd="/").stdout
    found = read(parsed(sent))
    assert {one.partition(":")[0] for one in found.unseen} >= {
        "the audit rules",
        "loaded BPF programs",
    }
    assert AuditRule in found.blind
    assert any(one.kind == "sysctl" for one in found.found)


def test_a_file_that_another_user_may_not_read_is_named() -> None:
    found = read(
        parsed(
            "\n".join(
                ("user 1000", f"name {code('there')}", f"denied {code('/etc/audit/rules.d')}")
            ).encode()
        )
    )
    assert "/etc/audit/rules.d: this user may not read it" in found.unseen
