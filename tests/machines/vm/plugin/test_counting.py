"""What the plugin is given of a guest's code."""

import struct
import subprocess
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.machines.vm.plugin import counting, elf_symbols
from hardcost.protocol.ask import install, run, start
from hardcost.protocol.requests import DropCaches, Ready, Request, Watch
from tests.protocol.json_messages import typed

KALLSYMS = """\
0000000000000040 A pcpu_hot
ffffffff81000000 T _text
ffffffff81000000 T startup
ffffffff81000100 t __do_sys_getppid
ffffffff81000100 T __x64_sys_getppid
ffffffff81000100 T __ia32_sys_getppid
ffffffff81000200 T __indirect_thunk_start
ffffffff81000200 T __x86_indirect_thunk_array
ffffffff82000000 D init_task
ffffffff82000100 d of_nobody
ffffffffa0000000 t its_own\t[module]
"""
MAPS = """\
00200000-00257000 r--p 00000000 00:02 14   /init
7ffff7ffd000-7ffff7fff000 r-xp 00000000 00:00 0   [vdso]
"""
PROGRAM = Path(__file__).parents[3] / "vm" / "programs" / "knownanswer.s"


def said(kallsyms: str) -> str:
    texts = {"/proc/kallsyms": kallsyms, "/proc/self/maps": MAPS}
    answers = [
        {"event": "content", "name": name, "path": name, "text": text, "bytes": len(text)}
        for name, text in texts.items()
    ]
    return counting.kernel_symbols(typed(answers))


def test_of_several_names_the_plainest_is_taken() -> None:
    assert said(KALLSYMS).splitlines() == [
        "data 40 pcpu_hot",
        "data ffffffff82000000 init_task",
        "kernel ffffffff81000000 startup",
        "kernel ffffffff81000100 __x64_sys_getppid",
        "kernel ffffffff81000200 __x86_indirect_thunk_array",
        "kernel ffffffffa0000000 its_own [module]",
        "vdso 7ffff7ffd000 7ffff7fff000",
    ]


def test_the_mark_of_a_section_names_nothing() -> None:
    kallsyms = """\
ffffffff81000000 T _stext
ffffffff81000000 T startup_64
ffffffff81000100 T __noinstr_text_end
ffffffff81000180 T __update_stats_wait_end
ffffffff81000200 T __static_call_text_end
ffffffff81000200 T __x86_indirect_thunk_rax
ffffffff81000200 T __x86_indirect_thunk_array
ffffffff81000300 T __irqentry_text_end
ffffffff81000300 T irq_entries_start
ffffffff81000400 T _etext
ffffffff81000500 T __init_begin
ffffffff81000500 T _sinittext
ffffffff81000600 t core_kernel_text
"""
    assert [line.split(" ")[2] for line in said(kallsyms).splitlines()[:-1]] == [
        "startup_64",
        "__update_stats_wait_end",
        "__x86_indirect_thunk_rax",
        "irq_entries_start",
        "core_kernel_text",
    ]


def test_a_kernel_without_symbols_can_t_be_profiled() -> None:
    with pytest.raises(MachineError, match="does not say where its functions are"):
        said("0000000000000000 T startup\n")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("program") / "known"
    subprocess.run(
        ["gcc", "-nostdlib", "-static", "-no-pie", "-o", str(path), str(PROGRAM)], check=True
    )
    return path.read_bytes()


def test_a_programs_functions_are_found(program: bytes) -> None:
    found = {one.name: one for one in elf_symbols.functions(program)}
    assert {"_start", "spin", "deeper", "restorer", "thread"} <= found.keys()
    assert "tid" not in found  # data
    assert found["spin"].size == 5
    ends = found["_start"].address + found["_start"].size
    assert ends == found["spin"].address


def test_what_is_no_program_has_no_functions(program: bytes) -> None:
    assert elf_symbols.functions(b"#!/bin/sh\n") == []
    for end in (0x20, 0x40, 0x78, len(program) // 2):
        assert isinstance(elf_symbols.functions(program[:end]), list)
    headers = struct.pack("<Q", 1 << 60)
    assert elf_symbols.functions(program[:0x28] + headers + program[0x30:]) == []


def test_the_plugin_is_told_which_qemu_has_loaded_it() -> None:
    own, symbols, out = (Path("/proc/self/fd", name) for name in "789")
    word, said = counting.words(
        (own, symbols), out, "11.1.3 (Debian 1:11.1.3+ds-1)", 4, stopped=True
    )
    assert word == "-plugin"
    assert said.split(",") == [
        "file=/proc/self/fd/7",
        "symbols=/proc/self/fd/8",
        "out=/proc/self/fd/9",
        "qemu=11.1.3",
        "skip=1",
        "processors=4",
    ]


def test_the_plugin_gets_all_that_it_takes(tmp_path: Path, program: bytes) -> None:
    made = counting.prepare(tmp_path, "kernel 1 a\n", [install("/usr/bin/known", program, 0o755)])
    assert set(made) == set(tmp_path.iterdir())
    lines = (tmp_path / "symbols").read_text().splitlines()
    assert lines[0] == "kernel 1 a"
    assert sum(line.startswith("reading ") for line in lines) > 50
    assert lines.index("program known") < next(
        at for at, line in enumerate(lines) if line.endswith(" 5 spin")
    )


def windows(folder: Path, job: list[Request]) -> list[str]:
    counting.prepare(folder, "", job)
    lines = (folder / "symbols").read_text().splitlines()
    return [line for line in lines if line.startswith("window ")]


def test_only_windows_in_which_programs_are_measured_are_followed(tmp_path: Path) -> None:
    job: list[Request] = [
        start("auditd", ["auditd"], ready=Ready(file="/run/auditd.pid")),
        run("prepare", ["true"]),
        DropCaches(),
        run("copy", ["cp"], clock="tsc"),
        run("compare", ["cmp"]),
        run("remove", ["rm"], clock="tsc"),
    ]
    assert windows(tmp_path, job) == ["window 2", "window 4"]


def test_where_the_clock_is_read_in_other_ways_all_windows_are_followed(tmp_path: Path) -> None:
    job: list[Request] = [Watch(what=("cpu",), period=1_000_000), run("copy", ["cp"], clock="tsc")]
    assert windows(tmp_path, job) == []
