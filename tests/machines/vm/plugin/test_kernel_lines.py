"""Which code a function's lines are of, and what is said where there is none."""

from dataclasses import replace
from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.machines.vm.plugin.kernel_lines import check, places_of, recipe_of
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.supply.cache.built_kernels import Built
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builder import Kernels

SYMBOLS = """data ffffffff82000000 init_task
vdso 7fff0000 7fff1000
kernel ffffffff81000000 first
kernel ffffffff81000040 filter.constprop.0
kernel ffffffff81000080 twice
kernel ffffffff81000090 twice
kernel ffffffff810000a0 filter.constprop.0.cold
kernel ffffffff810000b0 last
"""


def test_a_function_ends_where_the_next_begins() -> None:
    assert list(places_of(SYMBOLS, "first")) == [("first", 0xFFFFFFFF81000000, 0xFFFFFFFF81000040)]


def test_what_the_compiler_specialised_is_found_with_its_cold_part() -> None:
    names = [name for name, *_ in places_of(SYMBOLS, "filter")]
    assert names == ["filter.constprop.0", "filter.constprop.0.cold"]


@pytest.mark.parametrize(
    ("name", "said"), [("frist", "similar names: first"), ("twice", "as /proc/kallsyms does")]
)
def test_an_unknown_or_ambiguous_name_is_refused_with_a_remedy(name: str, said: str) -> None:
    with pytest.raises(InputError, match="functions of the name") as error:
        list(places_of(SYMBOLS, name))
    assert said in str(error.value.problems[0].hint)


def test_a_kernel_that_was_not_built_here_has_no_lines() -> None:
    check(Boot(lines="f"), KernelRecipe())
    check(Boot(), None)
    with pytest.raises(InputError, match="did not build this kernel"):
        check(Boot(lines="f"), None)


class Named(Kernels):
    """Kernels whose recipes' names are known, without a source or compiler."""

    def name(self, recipe: KernelRecipe) -> str:
        """Return a name that has all that distinguishes kernels."""
        return f"{recipe.base} {recipe.options} {recipe.patches}"


def kept(folder: Path, kernels: Kernels, recipe: KernelRecipe) -> Built:
    about = {
        "sha256": "ab",
        "base": recipe.base,
        "options": " ".join(f"{name}={value}" for name, value in recipe.options),
        "patches": "\n".join(f"{name}/0001-first.patch" for name in recipe.patches),
    }
    image = folder / "vmlinux"
    return Built(kernels.name(recipe), image, folder / "s", folder / "c", "6.1", about)


def test_an_image_that_was_built_here_is_known_by_its_content(tmp_path: Path) -> None:
    kernels = Named(Cache(tmp_path))
    recipe = KernelRecipe("lean", (("SLUB_DEBUG", "y"),), tolerant=True, patches=("flat",))
    known = [kept(tmp_path, kernels, recipe)]
    assert recipe_of("ab", known, kernels) == recipe
    assert recipe_of("cd", known, kernels) is None
    other = replace(known[0], name="of another compiler")
    assert recipe_of("ab", [other], kernels) is None


def test_a_kernel_with_lines_is_built_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = Named(Cache(tmp_path))
    monkeypatch.setattr(kernels, "find", lambda _: None)
    machine = VirtualMachine(Cache(tmp_path), Hardware("icount"), kernels=kernels)
    plain = machine.builds(Boot(kernel=KernelRecipe()))
    assert plain == (kernels.name(KernelRecipe()),)
    own, twin = machine.builds(Boot(kernel=KernelRecipe(), by_function=True, lines="f"))
    assert own == plain[0]
    assert "DEBUG_INFO_DWARF5" in twin
    assert not machine.is_ready(Boot(kernel=KernelRecipe(), lines="f"))
