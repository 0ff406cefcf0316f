from __future__ import annotations

from dataclasses import replace

import pytest

from hardcost.controls.control import Control
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.mechanisms.kconfig import Kernel, KernelOption, recipe_of, shipped_of
from hardcost.protocol.boot import KernelRecipe

OPTION = KernelOption("SLUB_DEBUG_ON", "y")


def test_a_kernel_is_built_only_where_one_is_asked_for() -> None:
    assert recipe_of((AuditDaemon(),)) is None
    assert recipe_of((Kernel(),)) == KernelRecipe("lean")


def test_options_come_in_their_order_on_their_base() -> None:
    found = recipe_of((Kernel("my.config"), OPTION, KernelOption("AIO", "n")))
    assert found == KernelRecipe("my.config", (("SLUB_DEBUG_ON", "y"), ("AIO", "n")))


def test_patches_come_with_their_kernel_and_each_once() -> None:
    found = recipe_of((Kernel(patches=("flat", "a.patch")), Kernel(patches=("flat",))))
    assert found == KernelRecipe("lean", patches=("flat", "a.patch"))


def test_what_lacks_something_on_every_base_is_tolerated_only_if_the_kernel_says_so() -> None:
    found = recipe_of((Kernel(tolerant=True), OPTION))
    assert found is not None
    assert found.tolerant


def test_options_need_a_kernel_to_be_set_on() -> None:
    with pytest.raises(InputError, match="no kernel to set them on"):
        recipe_of((OPTION,))


SHIPPED = Kernel("debian:6.12", shipped=True)


def test_a_kernel_that_exists_is_booted_and_nothing_is_built() -> None:
    assert recipe_of((SHIPPED,)) is None
    assert shipped_of((SHIPPED,)) == "debian:6.12"
    assert shipped_of((Kernel(),)) is None


@pytest.mark.parametrize("controls", [(SHIPPED, OPTION), (replace(SHIPPED, patches=("flat",)),)])
def test_a_kernel_that_exists_takes_no_options_and_no_patches(
    controls: tuple[Control, ...],
) -> None:
    with pytest.raises(InputError, match="is built already: it takes no"):
        shipped_of(controls)


def test_two_kernels_in_one_configuration_are_refused() -> None:
    with pytest.raises(InputError, match="has one kernel, and not lean and other"):
        recipe_of((Kernel(), Kernel("other")))
