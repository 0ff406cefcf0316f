"""Kernels are built, booted and measured; what can't be built says why and leaves nothing half."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from importlib import resources
from pathlib import Path

import pytest

from tests.vm.conftest import Command, Outcome, share
from tests.vm.test_failures import mount_namespace

pytestmark = pytest.mark.vm

STUDY = """
title = "one built kernel"
workloads = ["syscalls calls=null+open", "build compiler=tcc files=2"]
baseline = "plain"
[[configuration]]
name = "plain"
kernel = "lean"
[[configuration]]
name = "debug"
kernel = "lean"
boot = ["slub_debug=FZPU"]
[[configuration]]
name = "audit"
kernel = "lean"
audit.rules = ["-a always,exit -F arch=b64 -S swapon -F uid=70001"]
"""

NEW = ("--option", "DEBUG_LIST=y", "--option", "DEBUG_NOTIFIERS=y")
"""Options of a kernel that no cache has: each by itself is built for a price list."""


@pytest.fixture
def apart(linux_source: Path, hardcost_apart: Command, cache_root: Path) -> Command:
    """Return the command with a cache of its own that shares nothing but Linux's source.

    What removes from a cache must not be tried on it.
    """
    assert linux_source.is_dir()
    share(cache_root / "sources", hardcost_apart.cache / "sources")
    return hardcost_apart


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_kernel_is_built_with_its_symbols_configuration_and_score(lean: Outcome) -> None:
    (kernel,) = lean.data()
    assert kernel["release"].endswith("-hardcost")
    assert Path(kernel["image"]).read_bytes().startswith(b"\x7fELF")
    assert " T start_kernel\n" in Path(kernel["symbols"]).read_text()
    config = Path(kernel["config"]).read_text()
    assert "CONFIG_INIT_STACK_NONE=y\n" in config
    assert "# CONFIG_STACKPROTECTOR is not set\n" in config
    assert 0 < kernel["score"]["met"] < kernel["score"]["of"]
    assert "2026" in next(line for line in strings(kernel["image"]) if "Linux version" in line)


def strings(image: str) -> list[str]:
    """Return the printable lines of a file that speak of its version."""
    content = Path(image).read_bytes()
    start = content.index(b"Linux version ")
    return [content[start : start + 200].split(b"\0")[0].decode()]


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_kernel_that_was_built_is_not_built_again(lean: Outcome, hardcost: Command) -> None:
    (before,) = lean.data()
    made = Path(before["image"]).stat().st_mtime_ns
    (again,) = hardcost("kernel", "build", "--format", "json").data()
    assert again == before
    assert Path(again["image"]).stat().st_mtime_ns == made
    assert before["name"] in hardcost("kernel", "list").out


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_study_boots_it_and_measures_calls_and_compiling(
    lean: Outcome, hardcost: Command
) -> None:
    assert lean.status == 0
    hardcost.write("study.toml", STUDY)
    first = hardcost("run", "study.toml", "--format", "json")
    null, opened, wall = (first.values(metric) for metric in ("null", "open", "wall"))
    assert null["plain"] == null["debug"] < null["audit"]
    assert opened["plain"] < opened["audit"] < opened["debug"]
    assert wall["plain"] < wall["debug"]
    assert first.data()["scores"]["plain"]["of"] > 0


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_kernel_with_patches_is_another_and_tells_which(
    lean: Outcome, flat: Outcome, hardcost: Command
) -> None:
    (stock,), (patched,) = lean.data(), flat.data()
    assert stock["patches"] == []
    assert patched["patches"]
    assert all(name.startswith("flat/0") for name in patched["patches"])
    assert patched["name"] != stock["name"]
    assert patched["sha256"] != stock["sha256"]
    assert patched["release"] == stock["release"]
    folder = Path(str(resources.files("hardcost.supply.kernels"))) / "series/flat/6.1"
    shutil.copytree(folder, hardcost.folder / "mine")
    for path in (str(folder), "mine"):
        (again,) = hardcost("kernel", "build", "--patch", path, "--format", "json").data()
        named = [name.replace("flat/", f"{Path(path).name}/") for name in patched["patches"]]
        assert again == {**patched, "patches": named}


@pytest.mark.slow
@pytest.mark.lengthy
def test_stock_and_flat_are_measured_beside_each_other_and_beside_what_was_published(
    flat: Outcome, hardcost: Command
) -> None:
    assert flat.status == 0
    ready = Path(str(resources.files("hardcost.study"))) / "ready/audit-rules.toml"
    few_levels = ready.read_text().replace("[0, 1, 10, 20, 30, 40, 50, 100, 160]", "[0, 1, 160]")
    hardcost.write("few.toml", few_levels)
    found = hardcost("run", "few.toml", "--workload", "syscalls calls=null", "--format", "json")
    null = found.values("null")
    assert len(null) == 13
    for more in ("", " catch-all"):
        few, many = (f"kernel=flat rules={count}{more}" for count in (1, 160))
        assert null[many] == pytest.approx(null[few], rel=0.01)
        assert null[many] < null[f"rules=160{more}"] / 2
    published = [one for one in found.data()["published"] if one["metric"] == "null"]
    beside = {one["configuration"]: one["ours_low"] for one in published}
    assert beside["rules=160"] == pytest.approx(null["rules=160"] / null["rules=0"])
    assert beside["kernel=flat rules=160"] == pytest.approx(
        null["kernel=flat rules=160"] / null["kernel=flat rules=0"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["SLUB_DEBUG_ONN=y"], "no option of that name; did you mean SLUB_DEBUG_ON?"),
        (
            ["RESET_ATTACK_MITIGATION=y"],
            "it depends on EFI && EFI_STUB, and EFI is not set, EFI_STUB is not set",
        ),
        (["INIT_STACK_ALL_ZERO=y", "INIT_STACK_ALL_PATTERN=y"], "one of a choice"),
        (["STACKTRACE=n"], "STACKDEPOT, TRACING select it"),
        (["ARCH_MMAP_RND_BITS=99"], "is a valid value"),
    ],
)
def test_options_that_do_not_come_out_are_reported_with_the_reason(
    hardcost: Command, options: list[str], message: str
) -> None:
    words = [word for option in options for word in ("--option", option)]
    refused = hardcost("kernel", "build", *words, status=2)
    assert message in refused.err
    assert options[0].partition("=")[0] in refused.err


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_search_prices_what_is_to_blame_and_tells_how(lean: Outcome, hardcost: Command) -> None:
    assert lean.status == 0
    words = '"oops=panic", "slub_debug=FZPU", "debugfs=off"'
    hardcost.write("own.toml", f'title = "t"\nkernel = "lean"\nboot = [{words}]\n')
    chosen = ("--method", "search", "--resolution", "5%", "--workload", "syscalls calls=open")
    found = hardcost("bill", "own.toml", *chosen, "--format", "json").data()
    (item,) = found["items"]
    assert item["control"] == "slub_debug=FZPU"
    (total,), (rest,), (interaction,) = found["totals"], found["rest"], found["interaction"]
    assert item["cost"] + rest["cost"] + interaction["cost"] == total["cost"]
    assert item["cost"] > 10_000
    assert found["search"]["adds_up"]
    assert any("slub_debug=FZPU" in step for step in found["search"]["steps"])


@pytest.mark.slow
def test_a_profile_in_which_nothing_can_be_searched_is_refused(hardcost: Command) -> None:
    hardcost.write("same.toml", 'title = "t"\nkconfig = ["PRINTK=y"]\n')
    refused = hardcost("bill", "same.toml", "--method", "search", status=2)
    assert "set so in the base configuration already" in refused.err
    assert "PRINTK=y" in refused.err


@pytest.mark.slow
def test_a_compilers_error_is_shown_and_leaves_no_kernel(apart: Command) -> None:
    source = apart.folder / "linux"
    sources = (apart.cache / "sources").iterdir()
    original = next(folder for folder in sources if (folder / "Makefile").is_file())
    shutil.copytree(original, source, copy_function=os.link, symlinks=True)
    (source / "scripts/basic/fixdep.c").unlink()
    (source / "scripts/basic/fixdep.c").write_text("int main(void) { return nonsense; }\n")
    before = kernels(apart)
    failed = apart("kernel", "build", "--source", str(source), status=3)
    assert "nonsense" in failed.err
    assert kernels(apart) == before


def test_a_folder_that_is_no_source_is_refused(hardcost: Command) -> None:
    refused = hardcost("kernel", "build", "--source", ".", status=2)
    assert "not a Linux source: it has no Makefile" in refused.err


@pytest.mark.slow
def test_interrupted_in_the_midst_it_leaves_no_kernel_and_no_compiler(apart: Command) -> None:
    before = kernels(apart)
    process = apart.start("kernel", "build", *NEW)
    log = await_log(apart, process)
    process.send_signal(signal.SIGINT)
    ended = apart.end(process)
    assert ended.status == 130, ended.err
    assert "  HOSTCC " in log.read_text()
    assert kernels(apart) == before
    (place,) = (apart.cache / "builds").glob("*/seed")
    until = time.monotonic() + 10
    while (found := working_in(place.parent)) and time.monotonic() < until:
        time.sleep(0.05)
    assert not found
    assert not (place.parent / "o/manifest").exists()


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_full_disk_is_reported_and_leaves_no_kernel(apart: Command) -> None:
    namespace = mount_namespace()
    before = kernels(apart)
    # All that a build writes to, on a file system that is too small for it.
    small = " ".join(
        f'mkdir -p "{folder}" && mount -t tmpfs -o size=3m none "{folder}" &&'
        for folder in (apart.cache / "builds", apart.cache / "logs")
    )
    process = apart.start(
        *("kernel", "build", *NEW),
        under=(*namespace, "sh", "-c", f'{small} exec "$@"', "sh"),
    )
    failed = apart.end(process)
    assert failed.status == 3, failed.err
    assert "free some space" in failed.err
    assert kernels(apart) == before


def kernels(command: Command) -> set[str]:
    """Return the names of the kernels in a command's cache, all of which have to be whole."""
    folders = [one for one in (command.cache / "kernels").iterdir() if one.name[0] != "."]
    assert all((folder / "vmlinux").is_file() for folder in folders)
    return {folder.name for folder in folders}


def await_log(command: Command, process: subprocess.Popen[str]) -> Path:
    """Return the log of a build once a compiler has run in it."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        assert process.poll() is None, "it ended before it could be interrupted"
        for log in (command.cache / "logs").glob("*.log"):
            if "  HOSTCC " in log.read_text():
                return log
        time.sleep(0.02)
    raise AssertionError("nothing was compiled")


def working_in(place: Path) -> list[str]:
    """Return the command lines of processes that work in a folder."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (OSError, ValueError):
                continue
            if str(place) in line:
                found.append(line)
    return found
