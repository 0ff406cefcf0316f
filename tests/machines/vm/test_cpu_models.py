"""Processor models: those that QEMU lists, and no others."""

from __future__ import annotations

import pytest

from hardcost.errors import InputError
from hardcost.machines.vm import argv, cpu_models
from hardcost.protocol.boot import Boot
from hardcost.supply.emulators.emulator import HOST

OLDER = """Available CPUs:
x86 486                   (alias configured by machine type)
x86 EPYC-v1               AMD EPYC Processor
x86 max                   Enables all features

Recognized CPUID flags:
  3dnow 3dnowprefetch abm x2apic
"""
NEWER = OLDER.replace("x86 ", "  ")


@pytest.mark.parametrize("listing", [OLDER, NEWER])
def test_models_are_read_as_qemu_lists_them(listing: str) -> None:
    assert cpu_models.models(listing) == ["486", "EPYC-v1", "max"]


@pytest.mark.parametrize("model", ["max", "qemu64", "Skylake-Server,-avx", "max,-avx"])
def test_what_qemu_has_is_taken(model: str) -> None:
    cpu_models.check(model)


def test_what_it_has_not_is_refused_with_what_was_meant() -> None:
    with pytest.raises(InputError, match="no processor model 'skylake-server'") as caught:
        cpu_models.check("skylake-server")
    assert "did you mean 'Skylake-Server'? there are 486, " in str(caught.value.problems[0].hint)


def test_a_newer_qemu_is_asked_for_the_processor_of_7_2_by_features_that_it_knows() -> None:
    assert cpu_models.reference_features(NEWER) == (
        "family=15,model=107,stepping=1,3dnowprefetch=off,x2apic=off"
    )


def test_what_the_user_sets_of_the_model_comes_last_and_wins() -> None:
    hardware = argv.Hardware("icount", "max,x2apic=on", cpu_features="x2apic=off")
    words = argv.machine_words(hardware, Boot())
    assert words[words.index("-cpu") + 1].startswith("max,x2apic=off,x2apic=on,rdrand=off")


@pytest.mark.parametrize(
    "hardware",
    [
        argv.Hardware("icount", "Haswell-v4"),
        argv.Hardware("icount", processors=2),
        argv.Hardware("kvm", "host"),
        argv.Hardware("icount", cpu_features="of another host's order"),
    ],
)
def test_other_hardware_is_left_as_it_is(hardware: argv.Hardware) -> None:
    assert cpu_models.pin_model(hardware, HOST) == hardware
