"""Settings of the kernel in a Debian guest: those of the live system, and those of its boot."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from tests.vm.controls_applied import applied, shell

pytestmark = pytest.mark.vm


def test_a_setting_and_a_boot_parameter_take(cache_root: Path) -> None:
    controls = (Sysctl("kernel.kptr_restrict", "2"), BootParameter("init_on_alloc=1"))
    read = shell("read", "cat /proc/sys/kernel/kptr_restrict /proc/cmdline")
    found = applied(cache_root, controls, [read])
    found.notes()
    setting, line = found.ran("read").stdout.splitlines()
    assert setting == "2"
    assert "init_on_alloc=1" in line.split()
