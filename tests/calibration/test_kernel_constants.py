"""Constants are used for the series of kernels that they were measured with, and for no other."""

from __future__ import annotations

import pytest

from auditrules.cost.constants import Constants
from hardcost.calibration import kernel_constants
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache

SHIPPED = Constants.of_debian()
HERE = {**SHIPPED.about, "host": "any"}


def test_constants_fit_what_they_were_measured_with() -> None:
    assert kernel_constants.fits(SHIPPED, HERE)
    packaged_again = {**HERE, "qemu": f"{HERE['qemu'].partition(' ')[0]} (another build)"}
    assert kernel_constants.fits(SHIPPED, packaged_again)


def test_constants_fit_another_release_of_debian_s_series_which_is_noted() -> None:
    series, _, flavour = HERE["kernel"].split("-")
    next_one = HERE | {"kernel": f"{series}-999-{flavour}"}
    assert kernel_constants.fits(SHIPPED, next_one)
    (note,) = kernel_constants.note_other_release(SHIPPED, next_one)
    assert (
        f"kernel {next_one['kernel']} are predicted with the constants of {HERE['kernel']}" in note
    )
    assert kernel_constants.note_other_release(SHIPPED, HERE) == ()


@pytest.mark.parametrize(
    "other",
    [
        {"kernel": "6.12.95+deb12-cloud-amd64"},
        {"kernel": HERE["kernel"].replace("-amd64", "-cloud-amd64")},
        {"kernel": HERE["kernel"].replace("-amd64", "-rt-amd64")},
        {"kernel": HERE["kernel"].replace("6.1.0", "6.12.0")},
        {"kernel": "6.1.0-5"},
        {"kernel": f"{HERE['kernel']} and 6.12"},
        {"cpu_model": "Skylake-Client"},
        {"acceleration": "tcg"},
        {"qemu": "10.0.2"},
    ],
)
def test_constants_fit_nothing_else(other: dict[str, str]) -> None:
    assert not kernel_constants.fits(SHIPPED, HERE | other)


def test_records_that_do_not_say_what_was_measured_are_fitted_by_nothing() -> None:
    assert not kernel_constants.fits(SHIPPED, {})


@pytest.mark.vm
def test_a_kernel_that_was_built_for_a_trial_is_not_the_machines_own() -> None:
    cache = Cache()
    machine = VirtualMachine(cache, Hardware("icount"))
    built = {**machine.environment(Boot()), "kernel": "lean"}
    assert kernel_constants.constants_of_record(machine, cache, built) is None
