from __future__ import annotations

import re
from collections import Counter

import pytest

from hardcost.errors import InputError
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.kernel import options
from hardcost.profiles.kernel.options import BootEntry, CatalogueOption, OptionGroup, SysctlEntry
from hardcost.toml.read import parse

# What "Kconfig hardening tests" (2020) set in each group: how many options, the first and the last.
PUBLISHED = {
    "kspp-self-protection": (25, "SLAB_FREELIST_RANDOM=y", "DEBUG_WX=y"),
    "clipos-self-protection": (14, "SLAB_MERGE_DEFAULT=n", "DEBUG_VIRTUAL=y"),
    "userspace-hardening": (1, "ARCH_MMAP_RND_BITS=32", "ARCH_MMAP_RND_BITS=32"),
    "kspp-cut-attack-surface": (14, "COMPAT_BRK=n", "PROC_KCORE=n"),
    "clipos-cut-attack-surface": (11, "USER_NS=n", "MAGIC_SYSRQ=n"),
    "grsecurity-cut-attack-surface": (14, "USELIB=n", "X86_PTDUMP=n"),
    "security-policy": (7, "SECURITY=y", "LOCK_DOWN_KERNEL_FORCE_CONFIDENTIALITY=y"),
    "grapheneos-cut-attack-surface": (8, "AIO=n", "FTRACE=n"),
}
RENAMED = {
    "GCC_PLUGIN_RANDSTRUCT": "RANDSTRUCT_FULL",
    "GCC_PLUGIN_RANDSTRUCT_PERFORMANCE": "RANDSTRUCT_PERFORMANCE",
    "X86_X32": "X86_X32_ABI",
    "X86_PTDUMP": "PTDUMP_DEBUGFS",
}
GONE = {"HARDENED_USERCOPY_FALLBACK", "HARDENED_USERCOPY_PAGESPAN", "DEVKMEM"}


def option(text: str) -> KernelOption:
    return KernelOption.of(text)


def entry(name: str) -> CatalogueOption:
    found = options.entry_of(name)
    assert found is not None
    return found


def faults(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        options.read(parse(text.encode(), "x.toml"), options._GroupFile)
    return [f"{one.place and one.place.line}: {one.message}" for one in caught.value.problems]


def test_every_published_option_is_there_in_its_group_and_order() -> None:
    by_group: dict[str, list[str]] = {}
    for one in options.entries():
        by_group.setdefault(one.group, []).append(one.published.name)
    ends = {slug: (len(found), found[0], found[-1]) for slug, found in by_group.items()}
    assert ends == PUBLISHED
    assert [group.slug for group in options.groups()] == list(PUBLISHED)
    assert options.groups()[-1] == OptionGroup(
        "grapheneos-cut-attack-surface", "GrapheneOS and maintainer's cut attack surface"
    )


def test_two_options_stand_in_two_groups_and_are_reported_of_once() -> None:
    counted = Counter(one.published.option for one in options.entries())
    twice = [name for name, times in counted.items() if times > 1]
    assert twice == ["GCC_PLUGIN_RANDSTRUCT_PERFORMANCE", "KEXEC_FILE"]
    for name in twice:
        first, second = (e for e in options.entries() if e.published.option == name)
        assert first.group != second.group
        assert first.protects == second.protects


def test_what_became_of_options_is_reported() -> None:
    renamed = {
        e.published.option: e.option.option for e in options.entries() if e.published != e.option
    }
    gone = {e.option.option for e in options.entries() if e.status == "gone"}
    assert (renamed, gone) == (RENAMED, GONE)
    assert len(options.notes_on_gone()) == len(RENAMED) + len(GONE)
    assert [note.split(":")[0] for note in options.notes_on_gone("kspp-cut-attack-surface")] == [
        "X86_X32=n is set as X86_X32_ABI=n",
        "DEVKMEM=n is left out",
    ]
    assert options.notes_on_gone("security-policy") == ()


def test_all_controls_hold_each_option_once_and_none_that_is_gone() -> None:
    names = [one.option for one in options.all_controls()]
    assert len(names) == len(set(names)) == 94 - 2 - len(GONE)
    assert not GONE & set(names)
    assert set(RENAMED.values()) <= set(names)
    grouped = [one for slug in PUBLISHED for one in options.group_controls(slug)]
    assert set(grouped) == set(options.all_controls())
    assert len(options.group_controls("kspp-self-protection")) == 25 - 2


def test_every_entry_says_what_it_protects_in_one_sentence() -> None:
    for one in options.entries():
        assert re.fullmatch(r"[A-Z][^.]*(?:\.[^ .][^.]*)*\.", one.protects), one.protects
        assert one.references


def test_an_unknown_group_is_an_error_with_a_hint() -> None:
    for look in (options.group_controls, options.notes_on_gone):
        with pytest.raises(InputError) as caught:
            look("security-polity")
        assert caught.value.problems[0].hint == "did you mean 'security-policy'?"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("INIT_ON_ALLOC_DEFAULT_ON=y", BootParameter("init_on_alloc=1")),
        ("SLUB_DEBUG_ON=y", BootParameter("slub_debug=FZPU")),
        ("SLAB_MERGE_DEFAULT=n", BootParameter("slab_nomerge")),
        ("LEGACY_VSYSCALL_NONE=y", BootParameter("vsyscall=none")),
        ("X86_VSYSCALL_EMULATION=n", BootParameter("vsyscall=none")),
        ("DEBUG_FS=n", BootParameter("debugfs=off")),
        ("SECURITY_DMESG_RESTRICT=y", Sysctl("kernel.dmesg_restrict", "1")),
        ("USER_NS=n", Sysctl("user.max_user_namespaces", "0")),
        ("SLUB_DEBUG_ON=n", None),
        ("KSM=n", None),
        ("NO_SUCH_OPTION=y", None),
    ],
)
def test_some_options_have_an_equivalent_without_a_build(
    text: str, same: BootParameter | Sysctl | None
) -> None:
    assert options.equivalent_of(option(text)) == same


def test_a_parameter_that_its_own_option_makes_known_is_no_equivalent() -> None:
    shuffle = option("SHUFFLE_PAGE_ALLOCATOR=y")
    assert options.equivalent_of(shuffle) is None
    assert entry("SHUFFLE_PAGE_ALLOCATOR").boot == BootParameter("page_alloc.shuffle=1")
    assert "alone shuffles nothing" in options.equivalence_note(shuffle)


def test_what_an_equivalent_needs_and_how_it_differs_is_reported() -> None:
    assert options.needs(option("SLUB_DEBUG_ON=y")) == "SLUB_DEBUG"
    assert options.needs(option("INIT_ON_FREE_DEFAULT_ON=y")) is None
    assert options.needs(option("NO_SUCH_OPTION=y")) is None
    assert options.equivalence_note(option("INIT_ON_FREE_DEFAULT_ON=y")) == ""
    assert "stays" in options.equivalence_note(option("KEXEC=n"))


def test_an_entry_is_found_by_its_old_and_its_new_name() -> None:
    assert entry("X86_X32") == entry("X86_X32_ABI")
    assert options.entry_of("NO_SUCH_OPTION") is None


def test_boot_parameters_and_sysctls_name_options_of_the_catalogue_alike() -> None:
    looked_at: list[BootEntry | SysctlEntry] = [*options.boot_parameters()]
    for one in [*looked_at, *options.sysctls()]:
        known = one.option and options.entry_of(option(one.option).option)
        if known and known.status != "gone":
            assert known.option.name == one.option


def test_an_options_equivalent_is_a_known_parameter_or_sysctl() -> None:
    words = {one.control for one in options.boot_parameters()}
    keys = {one.control for one in options.sysctls()}
    # Those that kernel-hardening-checker doesn't look at.
    others = {
        "random.trust_cpu=off",
        "random.trust_bootloader=off",
        "slub_debug=FZPU",
        "nohibernate",
        "pty.legacy_count=0",
        "kmemleak=off",
        "fs.aio-max-nr=0",
        "net.core.bpf_jit_enable=0",
    }
    for one in options.entries():
        same = one.boot or one.sysctl
        assert same is None or same in words | keys or same.name in others, same


def test_a_boot_parameter_whose_absence_is_wanted_is_no_control() -> None:
    by_name = {one.name: one for one in options.boot_parameters()}
    assert by_name["nokaslr"].control is None
    assert by_name["retbleed"].control is None
    assert by_name["slab_nomerge"].control == BootParameter("slab_nomerge")
    assert by_name["init_on_alloc"].control == BootParameter("init_on_alloc=1")


TOLD = 'protects = "P."\nseverity = "low"\nreferences = ["r"]\n'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"published = 'no option'\n{TOLD}", "not a kernel option with its value"),
        ("published = 'X=y'", "X=y needs protects, severity and references"),
        ("published = 'X=y'\nas_in = 'g'\nprotects = 'P.'", "described both elsewhere"),
        (f"published = 'X=y'\nstatus = 'gone'\n{TOLD}", "X=y is gone and has no note"),
        (f"published = 'X=y'\nstatus = 'renamed'\nnote = 'n'\n{TOLD}", "has no option"),
        (f"published = 'X=y'\nequivalence_note = 'n'\n{TOLD}", "an equivalent that it lacks"),
        (f"published = 'X=y'\nboot_needs = 'Y'\n{TOLD}", "boot_needs and no boot parameter"),
        (f"published = 'X=y'\nboot = 'two words'\n{TOLD}", "is not one word"),
        (f"published = 'X=y'\nsysctl = 'no-key'\n{TOLD}", "is not a sysctl key"),
        (
            f"published = 'X=y'\nmet_by = [['nonsense']]\n{TOLD}",
            "not a kernel option with its value",
        ),
        (f"published = 'X=y'\ncolour = 'red'\n{TOLD}", "there is no key 'colour' here"),
        (f"published = 'X=y'\nscored = 1\n{TOLD}", "scored has to be a valid boolean"),
    ],
)
def test_a_mistake_in_the_catalogue_is_reported(text: str, problem: str) -> None:
    assert problem in faults(f"title = 't'\n[[option]]\n{text}\n")[0]


def test_an_option_that_no_group_describes_is_an_error() -> None:
    file = options.read(
        parse(b"title='t'\n[[option]]\npublished='X=y'\nas_in='g'", "x.toml"),
        options._GroupFile,
    )
    with pytest.raises(InputError, match="no group 'g' describes the option X=y"):
        options._describing_table({"other": file}, file.option[0])


@pytest.mark.parametrize(
    ("text", "model", "problem"),
    [
        (
            f"[[parameter]]\nname = 'x'\n{TOLD}",
            options._BootFile,
            "x needs one of value and rule",
        ),
        (
            f"[[sysctl]]\nkey = 'x'\nvalue = '1'\n{TOLD}",
            options._SysctlFile,
            "'x' is not a sysctl key, such as kernel.kptr_restrict",
        ),
    ],
)
def test_a_mistake_in_boot_parameters_or_sysctls_is_reported(
    text: str,
    model: type[options._BootFile | options._SysctlFile],
    problem: str,
) -> None:
    with pytest.raises(InputError) as caught:
        options.read(parse(text.encode(), "x.toml"), model)
    assert caught.value.problems[0].message == problem
