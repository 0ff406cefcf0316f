"""What a kernel says of its boot line is read as it says it, and no other program's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.machines.vm.boot_log import log_lines, verdicts
from hardcost.machines.vm.boot_parameters import KernelParameters
from hardcost.protocol.boot import WordVerdict

# As Debian's 6.1.0-56-amd64 wrote it on the console.
CONSOLE = """\
[    0.000000] Command line: console=ttyS0 mitigations=of spectre_v2=onn audit=maybe
[    0.000000] Malformed early option 'init_on_alloc'
[    0.104000] Unknown kernel command line parameters "quite", will be passed to user space.
[    0.110000] Unsupported mitigations=of, system may still be vulnerable
[    0.113000] Spectre V2 : unknown option (onn). Switching to AUTO select
[    0.120000] Booting kernel: `maybe' invalid for parameter `page_alloc.shuffle'
[    0.130000] audit: invalid 'audit' parameter value (maybe)
[    2.100000] Failed to set sysctl parameter 'kernel.foo=1': parameter not found
[    2.200000] i8042: ignoring 'on' of no driver's
"""


@pytest.fixture
def known(tmp_path: Path) -> KernelParameters:
    """A kernel with a few parameters, and a module."""
    names = b"\0mitigations\0audit=\0printk.time\0page_alloc.shuffle\0quiet\0nosmt\0held_string\0"
    (tmp_path / "vmlinux").write_bytes(b"\x7fELF" + names)
    modules = tmp_path / "modules" / "kernel"
    modules.mkdir(parents=True)
    module = b"\x01license=GPL\0parmtype=nx_huge_pages:bool\0parmtype=tdp_mmu:bool\0"
    (modules / "kvm.ko").write_bytes(module)
    (modules / "packed.ko.xz").write_bytes(b"\xfd7zXZ")
    return KernelParameters(tmp_path / "vmlinux", tmp_path / "modules")


def one(
    word: str, known: KernelParameters, passed_on: tuple[str, ...] = (), *, system: bool = False
) -> WordVerdict | None:
    found = verdicts([word], passed_on, log_lines(CONSOLE), known, whole_system=system)
    return found[0] if found else None


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("init_on_alloc=perhaps", "Malformed early option 'init_on_alloc'"),
        ("mitigations=of", "Unsupported mitigations=of, system may still be vulnerable"),
        ("spectre_v2=onn", "unknown option (onn)"),
        ("page_alloc.shuffle=maybe", "invalid for parameter `page_alloc.shuffle'"),
        ("audit=maybe", "invalid 'audit' parameter value (maybe)"),
        ("sysctl.kernel.foo=1", "Failed to set sysctl parameter 'kernel.foo=1'"),
    ],
)
def test_a_complaint_is_reported_in_the_kernels_own_words(
    word: str, said: str, known: KernelParameters
) -> None:
    others = ["page_alloc.shuffle=maybe", "audit=maybe"]
    every = [word, *(other for other in others if other != word)]
    found = verdicts(every, (), log_lines(CONSOLE), known)
    assert said in found[0].refused


def test_a_complaint_about_another_word_is_not_this_ones(known: KernelParameters) -> None:
    assert one("mitigations=off", known) is None
    assert one("nosmt=force", known) is None


def test_a_word_that_process_1_was_given_is_unknown_and_the_one_that_was_meant_is_named(
    known: KernelParameters,
) -> None:
    found = one("mitigatons=off", known, ("HOME=/", "mitigatons=off"))
    assert found is not None
    assert "does not know mitigatons" in found.refused
    assert found.meant == "mitigations"
    bare = one("quite", known, ("/init", "nokaslr", "quite"))
    assert bare is not None
    assert (bool(bare.refused), bare.meant) == (True, "quiet")


def test_what_the_kernel_looks_up_by_itself_is_not_unknown(known: KernelParameters) -> None:
    assert one("spec_store_bypass_disable=on", known, ("spec_store_bypass_disable=on",)) is None
    assert one("nokaslr", known, ("nokaslr",)) is None


def test_a_word_that_the_image_holds_is_left_open(known: KernelParameters) -> None:
    found = one("held_string=1", known, ("held_string=1",))
    assert found is not None
    assert (found.refused, "is not known" in found.note) == ("", True)


def test_a_parameter_of_a_module_is_looked_up_since_no_kernel_complains(
    known: KernelParameters,
) -> None:
    assert one("printk.time=1", known) is None
    built_in = one("printk.tim=1", known)
    assert built_in is not None
    assert "without a parameter tim" in built_in.refused
    assert built_in.meant == "printk.time"
    none = one("nothing.like=1", known)
    assert none is not None
    assert "no module nothing" in none.refused
    misspelt = one("kvm.nx_huge_page=force", known)
    assert misspelt is not None
    assert "module kvm has no parameter" in misspelt.refused
    assert misspelt.meant == "kvm.nx_huge_pages"


@pytest.mark.parametrize("word", ["kvm.nx-huge-pages=force", "kvm.dyndbg=+p", "packed.any=1"])
def test_whether_a_module_that_exists_is_loaded_is_not_known(
    word: str, known: KernelParameters
) -> None:
    found = one(word, known)
    assert found is not None
    assert (found.refused, "does not check whether the guest loads it" in found.note) == ("", True)


def test_without_modules_a_name_with_a_dot_is_left_open(tmp_path: Path) -> None:
    (tmp_path / "vmlinux").write_bytes(b"\0quiet\0")
    found = one("kvm.nx_huge_pages=1", KernelParameters(tmp_path / "vmlinux", None))
    assert found is not None
    assert (found.refused, "is not known" in found.note) == ("", True)


def test_words_of_hardcosts_own_are_never_refused(known: KernelParameters) -> None:
    assert one("hardcost.placebo=7", known, ("hardcost.placebo=7",)) is None


def test_systemds_words_are_left_open_where_it_runs(known: KernelParameters) -> None:
    word = "systemd.unified_cgroup_hierarchy=0"
    whole, small = one(word, known, system=True), one(word, known)
    assert whole is not None
    assert small is not None
    assert (bool(whole.refused), bool(small.refused)) == (False, True)
