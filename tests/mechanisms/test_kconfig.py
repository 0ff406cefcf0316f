from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hardcost.controls.control import AuditDaemon, Kernel, KernelOption
from hardcost.controls.mechanisms import kconfig
from hardcost.errors import InputError
from hardcost.machines.machine import KernelRecipe

if TYPE_CHECKING:
    from hardcost.controls.control import Control

OPTION = KernelOption("SLUB_DEBUG_ON", "y")


def test_a_kernel_is_built_only_where_one_is_asked_for() -> None:
    assert kconfig.recipe((AuditDaemon(),)) is None
    assert kconfig.recipe((Kernel(),)) == KernelRecipe("lean")


def test_options_come_in_their_order_on_their_base() -> None:
    found = kconfig.recipe((Kernel("my.config"), OPTION, KernelOption("AIO", "n")))
    assert found == KernelRecipe("my.config", (("SLUB_DEBUG_ON", "y"), ("AIO", "n")))


def test_patches_come_with_their_kernel_and_each_once() -> None:
    found = kconfig.recipe((Kernel(patches=("flat", "a.patch")), Kernel(patches=("flat",))))
    assert found == KernelRecipe("lean", patches=("flat", "a.patch"))


def test_what_lacks_something_on_every_base_is_tolerated_only_if_the_kernel_says_so() -> None:
    found = kconfig.recipe((Kernel(tolerant=True), OPTION))
    assert found is not None
    assert found.tolerant


def test_options_need_a_kernel_to_be_set_on() -> None:
    with pytest.raises(InputError, match="no kernel to set them on"):
        kconfig.recipe((OPTION,))


SHIPPED = Kernel("debian:6.12", shipped=True)


def test_a_kernel_that_exists_is_booted_and_nothing_is_built() -> None:
    assert kconfig.recipe((SHIPPED,)) is None
    assert kconfig.shipped((SHIPPED,)) == "debian:6.12"
    assert kconfig.shipped((Kernel(),)) is None


@pytest.mark.parametrize("controls", [(SHIPPED, OPTION), (replace(SHIPPED, patches=("flat",)),)])
def test_a_kernel_that_exists_takes_no_options_and_no_patches(
    controls: tuple[Control, ...],
) -> None:
    with pytest.raises(InputError, match="is built already: it takes no"):
        kconfig.shipped(controls)


def test_two_kernels_in_one_configuration_are_refused() -> None:
    with pytest.raises(InputError, match="has one kernel, and not lean and other"):
        kconfig.recipe((Kernel(), Kernel("other")))
