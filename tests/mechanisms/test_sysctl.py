from __future__ import annotations

import pytest
from tests.protocol.said import as_sent, typed

from hardcost.controls.control import BootParameter, Sysctl
from hardcost.controls.mechanisms import sysctl
from hardcost.errors import InputError, TrialError

RESTRICT = Sysctl("kernel.kptr_restrict", "2")
PATH = "/proc/sys/kernel/kptr_restrict"


def written(path: str, after: str | None) -> dict[str, object]:
    return {"event": "written", "path": path, "before": "0", "after": after}


def test_each_setting_is_written_to_its_file() -> None:
    assert as_sent(sysctl.requests((BootParameter("quiet"), RESTRICT))) == (
        {"do": "write", "path": PATH, "value": "2"},
    )


def test_a_key_that_is_none_is_the_users_error() -> None:
    with pytest.raises(InputError, match="leaves /proc/sys"):
        as_sent(sysctl.requests((Sysctl("kernel/../../etc/passwd", "x"),)))


def test_a_setting_that_took_is_silent() -> None:
    assert sysctl.verify((RESTRICT,), typed([written(PATH, "2")])) == ()


def test_tabs_and_spaces_count_alike() -> None:
    control = Sysctl("net.ipv4.tcp_rmem", "4096 131072  6291456")
    answers = [written("/proc/sys/net/ipv4/tcp_rmem", "4096\t131072\t6291456")]
    assert sysctl.verify((control,), typed(answers)) == ()


def test_a_setting_that_did_not_take_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match=r"kernel\.kptr_restrict=2 did not take") as caught:
        sysctl.verify((RESTRICT,), typed([written(PATH, "1")]))
    assert caught.value.problems[0].hint == "before, it was '0': does the kernel take this value?"


def test_a_setting_that_was_not_answered_is_a_failed_trial() -> None:
    with pytest.raises(TrialError, match=r"did not set kernel\.kptr_restrict=2"):
        sysctl.verify((RESTRICT,), typed([{"event": "hello"}]))


def test_a_setting_that_cannot_be_read_back_is_noted() -> None:
    assert sysctl.verify((RESTRICT,), typed([written(PATH, None)])) == (
        "kernel.kptr_restrict can't be read back: whether it took is not known",
    )


def test_a_setting_written_twice_is_checked_twice() -> None:
    controls = (Sysctl(RESTRICT.key, "1"), RESTRICT)
    assert sysctl.verify(controls, typed([written(PATH, "1"), written(PATH, "2")])) == ()


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
    error = sysctl.explain((BootParameter("quiet"), RESTRICT), message)
    assert error is not None
    assert error.problems[0].message == explained


def test_another_failure_is_not_explained() -> None:
    assert sysctl.explain((RESTRICT,), "the machine reports: null: EPERM") is None
