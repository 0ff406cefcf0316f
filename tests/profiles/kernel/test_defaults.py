from __future__ import annotations

import pytest

from hardcost.controls.control import BootParameter, Kernel, Sysctl
from hardcost.profiles.kernel.defaults import default_of, switched_off_notes

LAYOUT = Sysctl("kernel.randomize_va_space", "2")
INIT = BootParameter("init_on_alloc=1")


def test_a_default_is_the_kernel_s_or_the_distribution_s() -> None:
    assert default_of(LAYOUT, (LAYOUT,)) == "kernel"
    assert default_of(INIT, (INIT,)) == "distribution"
    assert default_of(Sysctl("kernel.randomize_va_space", "1"), ()) is None
    assert default_of(INIT, (Kernel("lean"), INIT)) is None  # its configuration is not Debian's


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("init_on_alloc=1", "page_poison=1"), ["page_poison=1 switches off init_on_alloc=1"]),
        (("init_on_free=1", "slub_debug=FZP"), ["slub_debug=FZP switches off init_on_free=1"]),
        (("init_on_free=1", "slub_debug"), ["slub_debug switches off init_on_free=1"]),
        (("init_on_free=1", "slub_debug=FZ"), []),
        (("init_on_free=0", "page_poison=1"), []),
    ],
)
def test_what_is_switched_off_is_named_with_what_does_it(
    words: tuple[str, ...], said: list[str]
) -> None:
    found = list(switched_off_notes([BootParameter(word) for word in words]))
    assert [one.startswith(start) for one, start in zip(found, said, strict=True)] == [True] * len(
        said
    )
