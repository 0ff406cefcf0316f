"""Processor models: those that QEMU lists, and no others."""

from __future__ import annotations

import pytest

from hardcost.errors import InputError
from hardcost.machines.vm import cpu_models

OLDER = """Available CPUs:
x86 486                   (alias configured by machine type)
x86 EPYC-v1               AMD EPYC Processor
x86 max                   Enables all features

Recognized CPUID flags:
  3dnow abm
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
