from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hardcost.controls.control import BootParameter, Kernel, Sysctl
from hardcost.profiles.kernel.defaults import default_of, switched_off

if TYPE_CHECKING:
    from hardcost.controls.control import Control

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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("init_on_alloc=1", "page_poison=1"), ["page_poison=1 switches off init_on_alloc=1"]),
        (("init_on_free=1", "slub_debug=FZP"), ["slub_debug=FZP switches off init_on_free=1"]),
        (("init_on_free=1", "slub_debug"), ["slub_debug switches off init_on_free=1"]),
        (("init_on_free=1", "slub_debug=FZ"), []),
        (("init_on_free=1", "slub_debug=-"), []),
        (("init_on_free=1", "slub_debug=fzp"), ["slub_debug=fzp switches off init_on_free=1"]),
        (("init_on_free=1", "slab_debug=P"), ["slab_debug=P switches off init_on_free=1"]),
        (
            ("init_on_free=1", "slub_debug=FZ;P,dentry"),
            ["slub_debug=FZ;P,dentry switches off init_on_free=1 for objects of the slabs that"],
        ),
        (("init_on_free=1", "slub_debug=P,dentry;FZ,inode"), ["slub_debug=P,dentry;FZ,inode "]),
        (("init_on_free=0", "page_poison=1"), []),
        (("slub_debug=ZF", "slub_debug=P"), ["slub_debug=P replaces slub_debug=ZF"]),
        (("slub_debug=P", "init_on_free=1", "slub_debug=ZF"), ["slub_debug=ZF replaces "]),
    ],
)
def test_what_is_switched_off_is_named_with_what_does_it(
    words: tuple[str, ...], said: list[str]
) -> None:
    found = [why for _, why in switched_off([BootParameter(word) for word in words])]
    assert [one.startswith(start) for one, start in zip(found, said, strict=True)] == [True] * len(
        said
    )
