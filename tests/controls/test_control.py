from __future__ import annotations

import pytest

from hardcost.auditrules.rule import Rule
from hardcost.controls.control import AuditDaemon, AuditRule, BootParameter, Sysctl


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("kernel.kptr_restrict", "/proc/sys/kernel/kptr_restrict"),
        ("net.ipv4.conf.eth0/1.forwarding", "/proc/sys/net/ipv4/conf/eth0.1/forwarding"),
        ("net/ipv4/conf/eth0.1/forwarding", "/proc/sys/net/ipv4/conf/eth0.1/forwarding"),
    ],
)
def test_a_sysctl_is_a_file_under_proc_sys(key: str, path: str) -> None:
    assert Sysctl(key, "1").path == path


@pytest.mark.parametrize(
    "key",
    [
        "",
        "kernel",
        "/kernel/x",
        ".kernel.x",
        "kernel..x",
        "kernel/../../etc/passwd",
        "a.//.//b",
        "kernel.x\0",
        "kernel. x",
        "kernel.x\n",
        "net/./x",
    ],
)
def test_a_key_that_leads_elsewhere_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"sysctl|leaves /proc/sys"):
        _ = Sysctl(key, "1").path


@pytest.mark.parametrize("value", ["", " ", "1\n2", "a\0b"])
def test_a_value_that_is_no_line_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="can't be set"):
        _ = Sysctl("kernel.x", value).path


def test_a_value_of_several_numbers_is_a_line() -> None:
    assert Sysctl("net.ipv4.tcp_rmem", "4096\t131072 6291456").path


@pytest.mark.parametrize(
    "text", ["audit=0", "quiet", 'dyndbg="file x +p"', "slub_debug=FZ,kmalloc"]
)
def test_a_word_of_the_command_line_is_taken(text: str) -> None:
    assert BootParameter(text).word == text


@pytest.mark.parametrize("text", ["", "a b", 'x="a', "a\nb", "é", "hardcost.snapshot", "a\0"])
def test_what_is_no_word_of_the_command_line_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"one word|begin with hardcost"):
        _ = BootParameter(text).word


def test_every_control_has_a_name_and_a_mechanism() -> None:
    controls = (
        AuditDaemon(),
        AuditRule(Rule("-w /x")),
        Sysctl("a.b", "1"),
        BootParameter("audit=0"),
    )
    assert [(control.mechanism, control.name) for control in controls] == [
        ("audit", "auditd"),
        ("audit", "-w /x"),
        ("sysctl", "a.b=1"),
        ("boot", "audit=0"),
    ]
