from __future__ import annotations

import pytest

from hardcost.controls.control import Control
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.kernel.defaults import default_of

LAYOUT = Sysctl("kernel.randomize_va_space", "2")
INIT = BootParameter("init_on_alloc=1")


def test_a_default_is_the_kernel_s_or_the_distribution_s() -> None:
    assert default_of(LAYOUT, (LAYOUT,)) == "kernel"
    assert default_of(INIT, (INIT,)) == "distribution"
    assert default_of(Sysctl("kernel.randomize_va_space", "1"), ()) is None
    assert default_of(INIT, (Kernel("lean"), INIT)) is None  # its configuration is not Debian's


@pytest.mark.parametrize(
    ("control", "by"),
    [
        (Sysctl("net/ipv4/tcp_syncookies", "1"), "kernel"),
        (Sysctl("net.ipv4.conf.all.accept_source_route", "0"), "kernel"),
        (Sysctl("net.ipv4.conf.default.accept_source_route", "0"), None),
        (Sysctl("kernel.perf_event_paranoid", "3"), "distribution"),
        (Sysctl("kernel.yama.ptrace_scope", "1"), None),  # upstream's default, not Debian's
        (BootParameter("init_on_alloc=on"), "distribution"),
        (BootParameter("init-on-alloc=y"), "distribution"),
        (BootParameter("init_on_alloc=0"), None),
        (BootParameter("vsyscall=none"), "distribution"),
        (BootParameter("vsyscall=native"), None),
        (BootParameter("mitigations=auto"), "kernel"),
        (BootParameter("mitigations=auto,nosmt"), None),
    ],
)
def test_a_default_is_recognised_however_it_is_written(control: Control, by: str | None) -> None:
    assert default_of(control, (control,)) == by


@pytest.mark.parametrize(
    ("control", "by"),
    [
        (Sysctl("kernel.dmesg_restrict", "1"), None),  # by an option of Debian's kernel
        (Sysctl("fs.protected_regular", "2"), "distribution"),  # by a package
        (Sysctl("fs.suid_dumpable", "0"), "kernel"),
    ],
)
def test_a_kernel_of_one_s_own_has_no_option_of_the_distribution(
    control: Control, by: str | None
) -> None:
    assert default_of(control, (Kernel("lean"), control)) == by
