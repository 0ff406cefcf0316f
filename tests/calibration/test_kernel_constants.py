"""Constants are used for the kernel that they were measured with, and for no other."""

from __future__ import annotations

import pytest

from hardcost.auditrules.cost.constants import Constants
from hardcost.calibration import fitted
from hardcost.machines.cache import Cache
from hardcost.machines.machine import Boot
from hardcost.machines.qemu.argv import Hardware
from hardcost.machines.qemu.vm import VirtualMachine

SHIPPED = Constants.of_debian()
HERE = {**SHIPPED.about, "host": "any"}


def test_constants_fit_what_they_were_measured_with() -> None:
    assert fitted.fits(SHIPPED, HERE)
    packaged_again = {**HERE, "qemu": f"{HERE['qemu'].partition(' ')[0]} (another build)"}
    assert fitted.fits(SHIPPED, packaged_again)


@pytest.mark.parametrize(
    "other",
    [
        {"kernel": "6.12.95+deb12-cloud-amd64"},
        {"kernel": "6.1.0-5"},
        {"kernel": f"{HERE['kernel']} and 6.12"},
        {"cpu_model": "Skylake-Client"},
        {"acceleration": "tcg"},
        {"qemu": "10.0.2"},
    ],
)
def test_constants_fit_nothing_else(other: dict[str, str]) -> None:
    assert not fitted.fits(SHIPPED, HERE | other)


def test_records_that_do_not_say_what_was_measured_are_fitted_by_nothing() -> None:
    assert not fitted.fits(SHIPPED, {})


@pytest.mark.vm
def test_a_kernel_that_was_built_for_a_trial_is_not_the_machines_own() -> None:
    cache = Cache()
    machine = VirtualMachine(cache, Hardware("icount"))
    built = {**machine.environment(Boot()), "kernel": "lean"}
    assert fitted.of_measured(machine, cache, built) is None
