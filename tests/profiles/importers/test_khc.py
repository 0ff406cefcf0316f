from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hardcost.errors import InputError, Problem
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel, KernelOption
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles import catalogue
from hardcost.profiles.importers import khc
from hardcost.profiles.importers.khc import Findings

# The form of each version: three fields less and no type in the oldest, objects in the newest.
CHECKS = [
    ("CONFIG_BUG", "kconfig", "y", "OK"),
    ("CONFIG_SLAB_FREELIST_RANDOM", "kconfig", "y", 'FAIL: "is not set"'),
    ("CONFIG_KEXEC", "kconfig", "is not set", 'FAIL: "y"'),
    ("CONFIG_DEFAULT_MMAP_MIN_ADDR", "kconfig", "65536", "FAIL: is not found"),
    ("CONFIG_DEVMEM", "kconfig", "is not set", "OK: is not found"),
    ("slab_nomerge", "cmdline", "is present", "FAIL: is not present"),
    ("mitigations", "cmdline", "auto,nosmt", "FAIL: is not found"),
    ("kernel.kptr_restrict", "sysctl", "2", 'FAIL: "0"'),
]
OPTIONS = (
    KernelOption("SLAB_FREELIST_RANDOM", "y"),
    KernelOption("KEXEC", "n"),
    KernelOption("DEFAULT_MMAP_MIN_ADDR", "65536"),
)


def untyped(name: str, desired: str, result: str) -> list[str]:
    return [name, desired, "kspp", "self_protection", result]


def typed(name: str, kind: str, desired: str, result: str) -> list[str]:
    return [name, kind, desired, "kspp", "self_protection", result]


def named(name: str, kind: str, desired: str, result: str) -> dict[str, Any]:
    return {
        "option_name": name,
        "type": kind,
        "desired_val": desired,
        "decision": "kspp",
        "reason": "self_protection",
        "check_result": result,
        "check_result_bool": result.startswith("OK"),
    }


def read(*rows: object) -> Findings:
    return khc.read(json.dumps(rows).encode(), "report.json")


def problems(content: bytes) -> tuple[Problem, ...]:
    with pytest.raises(InputError) as caught:
        khc.read(content, "report.json")
    assert all(one.place and one.place.file == "report.json" for one in caught.value.problems)
    return caught.value.problems


def failing(name: str, kind: str, desired: str) -> Findings:
    """Return what one failing check yields, beside one that is known to yield something."""
    known = named("CONFIG_KNOWN", "kconfig", "y", "FAIL: is not found")
    return read(known, named(name, kind, desired, "FAIL: is off"))


@pytest.mark.parametrize("form", [typed, named])
def test_what_fails_becomes_settings_in_both_forms_with_types(form: Any) -> None:  # noqa: ANN401  (either function)
    found = read(*(form(*check) for check in CHECKS))
    assert found.options == OPTIONS
    assert found.boots == (BootParameter("slab_nomerge"), BootParameter("mitigations=auto,nosmt"))
    assert found.sysctls == (Sysctl("kernel.kptr_restrict", "2"),)
    assert (found.notes, found.checks, found.failing) == ((), 8, 6)


def test_the_oldest_form_is_of_the_kernels_configuration_alone() -> None:
    rows = [
        untyped(name, desired, result)
        for name, kind, desired, result in CHECKS
        if kind == "kconfig"
    ]
    found = read(*rows)
    assert (found.options, found.boots, found.sysctls) == (OPTIONS, (), ())


def test_warnings_before_the_json_are_skipped() -> None:
    row = json.dumps([named(*CHECKS[1])])
    content = f"[!] WARNING: sysctl command returned 255\n[+] more\n{row}\n"
    assert khc.read(content.encode(), "x").options == OPTIONS[:1]
    (problem,) = problems(b"[!] WARNING: x\n[1,\n")
    assert problem.place is not None
    assert problem.place.line == 3


@pytest.mark.parametrize(
    ("name", "kind", "desired", "why"),
    [
        ("CONFIG_LSM", "kconfig", "*yama*", "one word of a list"),
        ("CONFIG_LOCALVERSION", "kconfig", "is present", "the kernel itself determines"),
        ("CONFIG_ARCH_MMAP_RND_BITS", "kconfig", "MAX", "largest value"),
        ("CONFIG_DEVKMEM", "kconfig", "is not set", "6.1 has no /dev/kmem"),
        ("nokaslr", "cmdline", "is not set", "must not be set"),
        ("spectre_v2", "cmdline", "is not off", "the kernel chooses one"),
        ("vm.mmap_rnd_bits", "sysctl", "MAX", "largest value"),
    ],
)
def test_what_cant_be_switched_on_is_noted(name: str, kind: str, desired: str, why: str) -> None:
    found = failing(name, kind, desired)
    (note,) = found.notes
    assert note.startswith(f"{kind} {name} ({desired}) is left out: ")
    assert why in note
    assert (len(found.options), found.boots, found.sysctls) == (1, (), ())


def test_a_word_of_a_boot_parameters_list_can_stand_alone() -> None:
    found = failing("efi", "cmdline", "*disable_early_pci_dma*")
    assert found.boots == (BootParameter("efi=disable_early_pci_dma"),)


def test_an_option_of_an_old_kernel_goes_by_its_new_name() -> None:
    assert failing("CONFIG_X86_PTDUMP", "kconfig", "is not set").options[1:] == (
        KernelOption("PTDUMP_DEBUGFS", "n"),
    )


def test_of_two_checks_of_a_setting_the_later_one_holds() -> None:
    rows = [named("net.a.b", "sysctl", value, "FAIL: x") for value in "12"]
    assert read(*rows).sysctls == (Sysctl("net.a.b", "2"),)


@pytest.mark.parametrize(
    ("name", "kind", "desired"),
    [
        ("CONFIG_", "kconfig", "y"),
        ("CONFIG_A\x1b[2J", "kconfig", "y"),
        ("CONFIG_A\n", "kconfig", "y"),
        ("CONFIG_A", "kconfig", "a b"),
        ("CONFIG_A", "kconfig", "y\n"),
        ("CONFIG_A", "kconfig", "*\x1b*"),
        ("CONFIG_A", "kconfig", "\ud800"),
        ("A", "kconfig", "y"),
        ("a b", "cmdline", "1"),
        ("a\x00", "cmdline", "is present"),
        ("a\x07", "cmdline", "is not set"),
        ("a=b", "cmdline", "1"),
        ("a", "cmdline", "two words"),
        ("hardcost.x", "cmdline", "1"),
        ("", "cmdline", "is present"),
        ("", "sysctl", "1"),
        ("../../etc/passwd", "sysctl", "1"),
        ("a.b\n", "sysctl", "1"),
        ("a.b", "sysctl", "\x00"),
        ("a.b", "sysctl", ""),
        ("a.b", "magic", "1"),
    ],
)
def test_a_name_or_value_that_nothing_has_is_reported(name: str, kind: str, desired: str) -> None:
    row = named(name, kind, desired, "FAIL: x")
    (problem,) = problems(json.dumps([named(*CHECKS[1]), row]).encode())
    assert problem.message.startswith("check 2: ")
    assert problem.message.isprintable()
    assert problem.hint


@pytest.mark.parametrize(
    "row",
    [
        None,
        1,
        "CONFIG_A",
        [],
        ["CONFIG_A"],
        [[], {}, None, 1, 2],
        ["CONFIG_A", "y", "kspp", "self_protection"],
        ["CONFIG_A", "kconfig", "y", "kspp", "self_protection"],
        ["CONFIG_A", "kconfig", "y", "kspp", "self_protection", "FAIL", "more"],
        ["CONFIG_A", "y", "kspp", "self_protection", None],
        {},
        {"option_name": "CONFIG_A", "type": "kconfig", "desired_val": "y"},
        named("CONFIG_A", "kconfig", "y", "FAIL") | {"type": ["kconfig"]},
        named("CONFIG_A", "kconfig", "y", "FAIL") | {"desired_val": {"a": 1}},
        named("CONFIG_A", "kconfig", "y", "perhaps"),
    ],
)
def test_what_is_no_check_is_reported(row: object) -> None:
    (problem,) = problems(json.dumps([row]).encode())
    assert problem.message.startswith("check 1: ")


@pytest.mark.parametrize(
    ("content", "message", "line"),
    [
        (b"", "this is not JSON: Expecting value", 1),
        (b"[\n{,\n]", "this is not JSON: Expecting property name", 2),
        (b"[\n\xff]", "this is not UTF-8", 2),
        (b"\xef\xbb\xbf[]", "this is not JSON: Unexpected UTF-8 BOM", 1),
        (b"[" * 200_000, "values are nested too deep", None),
        (
            b"[" + b"9" * 10_000 + b"]",
            "values are nested too deeply, or a number is too long",
            None,
        ),
        (b"{}", "this is not an array of checks", None),
        (b"[]", "this is not an array of checks", None),
        (b'"x"', "this is not an array of checks", None),
        (b" " * (khc.LARGEST + 1), "this is too large", None),
    ],
)
def test_what_is_no_report_is_reported(content: bytes, message: str, line: int | None) -> None:
    (problem,) = problems(content)
    assert problem.message.startswith(message)
    assert problem.place is not None
    assert problem.place.line == line


def test_only_so_many_faults_are_reported() -> None:
    assert len(problems(json.dumps([None] * 1000).encode())) == 20
    rows = [named("a b", "cmdline", "1", "FAIL")] * 1000
    assert len(problems(json.dumps(rows).encode())) == 20


def test_a_report_of_which_nothing_can_be_switched_on_is_an_error() -> None:
    ok = named("CONFIG_A", "kconfig", "y", "OK")
    absent = named("nokaslr", "cmdline", "is not set", 'FAIL: ""')
    (problem,) = problems(json.dumps([ok, absent]).encode())
    assert problem.message == "1 of 2 checks fail, and none of them can be switched on"


def test_the_profile_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    rows = [
        *(named(*check) for check in CHECKS),
        named("nokaslr", "cmdline", "is not set", 'FAIL: ""'),
        named("net/ipv4/conf/eth0.1/forwarding", "sysctl", "0", "FAIL: x"),
        named("x", "cmdline", '"a\\b"', "FAIL: x"),
        named("CONFIG_LOCALVERSION", "kconfig", "-x", "FAIL: x"),
    ]
    found = read(*rows)
    path = tmp_path / "failing.toml"
    path.write_text(khc.profile_toml(found, 'dir/"re\x1b\\port\u2028.json'))
    profile = catalogue.load(str(path))
    assert profile.controls == (*found.sysctls, *found.boots, Kernel("lean"), *found.options)
    assert profile.notes == found.notes
    assert "\x1b" not in profile.title
    assert profile.source.endswith("10 of 12 checks fail")
