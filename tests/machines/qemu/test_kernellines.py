"""Which code a function's lines are of, and what is said where there is none."""

import pytest

from hardcost.errors import InputError
from hardcost.machines.machine import Boot, KernelRecipe
from hardcost.machines.qemu.kernellines import check, places_of

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


def test_a_kernel_that_is_not_built_here_has_no_lines() -> None:
    check(Boot(lines="f", kernel=KernelRecipe()))
    check(Boot())
    with pytest.raises(InputError, match="no debug data"):
        check(Boot(lines="f"))
