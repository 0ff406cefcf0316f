from __future__ import annotations

import pytest

from hardcost.controls.control import Profile
from hardcost.errors import InputError, TrialError
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.facts import profile_in_guest
from hardcost.mechanisms.sysctl import SYSCTLS, Sysctl
from tests.protocol.json_messages import as_sent, typed

RESTRICT = Sysctl("kernel.kptr_restrict", "2")
PATH = "/proc/sys/kernel/kptr_restrict"


def written(path: str, after: str | None) -> dict[str, object]:
    return {"event": "written", "path": path, "before": "0", "after": after}


def test_each_setting_is_written_to_its_file() -> None:
    assert as_sent(SYSCTLS.requests((BootParameter("quiet"), RESTRICT))) == (
        {"do": "write", "path": PATH, "value": "2"},
    )


def test_a_key_that_is_none_is_the_users_error() -> None:
    with pytest.raises(InputError, match="leaves /proc/sys"):
        as_sent(SYSCTLS.requests((Sysctl("kernel/../../etc/passwd", "x"),)))


def test_a_setting_that_took_is_silent() -> None:
    assert SYSCTLS.verify((RESTRICT,), typed([written(PATH, "2")])) == ()


def test_tabs_and_spaces_count_alike() -> None:
    control = Sysctl("net.ipv4.tcp_rmem", "4096 131072  6291456")
    answers = [written("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456")]
    assert SYSCTLS.verify((control,), typed(answers)) == ()


def test_a_setting_that_did_not_take_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match=r"kernel\.kptr_restrict=2 did not take") as caught:
        SYSCTLS.verify((RESTRICT,), typed([written(PATH, "1")]))
    assert caught.value.problems[0].hint == "before, it was '0': set a value that this kernel takes"


def test_a_setting_that_was_not_answered_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match=r"did not set kernel\.kptr_restrict=2"):
        SYSCTLS.verify((RESTRICT,), typed([{"event": "hello"}]))


def test_a_setting_that_cannot_be_read_back_is_noted() -> None:
    assert SYSCTLS.verify((RESTRICT,), typed([written(PATH, None)])) == (
        "kernel.kptr_restrict can't be read back: whether it took is not known",
    )


def test_a_setting_written_twice_is_checked_twice() -> None:
    controls = (Sysctl(RESTRICT.key, "1"), RESTRICT)
    assert SYSCTLS.verify(controls, typed([written(PATH, "1"), written(PATH, "2")])) == ()


# As the probe reports them.
@pytest.mark.parametrize(
    ("message", "explained"),
    [
        (
            f"the machine reports: {PATH}: No such file or directory (os error 2)",
            "the kernel has no setting kernel.kptr_restrict",
        ),
        (
            f"the machine reports: {PATH}: Invalid argument (os error 22)",
            "the kernel refuses kernel.kptr_restrict=2: Invalid argument",
        ),
    ],
)
def test_a_refused_setting_is_the_users_error(message: str, explained: str) -> None:
    error = SYSCTLS.explain((BootParameter("quiet"), RESTRICT), message)
    assert error is not None
    assert error.problems[0].message == explained


def test_another_failure_is_not_explained() -> None:
    assert SYSCTLS.explain((RESTRICT,), "the machine reports: null: EPERM") is None


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


def test_devices_that_no_guest_has_are_left_out_with_a_note() -> None:
    keys = ("net.ipv4.conf.all.x", "net.ipv4.conf.eth0.x", "net/ipv6/neigh/wlan0/x", "kernel.x")
    profile = Profile("p", "p", "", tuple(Sysctl(key, "1") for key in keys))
    found = profile_in_guest(profile)
    assert [one.name for one in found.controls] == ["net.ipv4.conf.all.x=1", "kernel.x=1"]
    assert found.notes == ("2 settings of devices that no guest has are left out: eth0, wlan0",)
    assert profile_in_guest(found) is found
