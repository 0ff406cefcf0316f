from __future__ import annotations

from hardcost.controls.control import Profile
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.kernel.substitutes import replace_kernel_options


def profile(*options: str) -> Profile:
    return Profile("p", "t", "", (Kernel("lean"), *map(KernelOption.of, options)), ("a note",))


def test_an_option_with_a_boot_parameter_or_sysctl_is_replaced_by_it() -> None:
    found = replace_kernel_options(
        profile("INIT_ON_ALLOC_DEFAULT_ON=y", "USER_NS=n", "FORTIFY_SOURCE=y")
    )
    assert found.controls == (
        Kernel("lean"),
        BootParameter("init_on_alloc=1"),
        Sysctl("user.max_user_namespaces", "0"),
        KernelOption("FORTIFY_SOURCE", "y"),
    )
    assert found.notes[0] == "a note"
    assert found.notes[1].startswith("init_on_alloc=1 replaces INIT_ON_ALLOC_DEFAULT_ON=y.")


def test_a_parameter_that_the_base_knows_is_used() -> None:
    # slub_debug= is known to a kernel with SLUB_DEBUG, which the lean base sets.
    (_, control) = replace_kernel_options(profile("SLUB_DEBUG_ON=y")).controls
    assert control == BootParameter("slub_debug=FZPU")


def test_a_parameter_that_only_the_option_itself_makes_known_is_not_used() -> None:
    option = "SHUFFLE_PAGE_ALLOCATOR=y"
    assert replace_kernel_options(profile(option)).controls == profile(option).controls


def test_another_value_than_the_recommended_one_is_not_replaced() -> None:
    option = "INIT_ON_ALLOC_DEFAULT_ON=n"
    assert replace_kernel_options(profile(option)).controls == profile(option).controls
