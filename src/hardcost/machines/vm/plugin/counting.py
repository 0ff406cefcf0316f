"""QEMU's plugin: the symbols and windows that it is given, and the counts that it returns.

The plugin finds the processes' own marks, their readings of the clock, by the addresses that the
programs of the guest have them at. So nothing is added to what is measured, and it counts the same
with the plugin as without.
"""

from __future__ import annotations

import base64
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.machines.vm.plugin import debug_files, elf_symbols, trace_points
from hardcost.protocol.answers import Answer, ContentAnswer, all_of
from hardcost.protocol.ask import read
from hardcost.protocol.requests import (
    Command,
    Counters,
    Install,
    MeasureCalls,
    Parallel,
    Request,
    RunProgram,
    StartService,
    Watch,
)
from hardcost.supply.programs import program_path

PLUGIN = "hardcost-tcg-plugin.so"

OUT = "profile"
"""The file that the plugin writes its counts to."""

RECIPE = "2"
"""Increased when the same kernel yields other symbols."""

_READINGS = ("hardcost-probe", "hardcost-measured")
_SYMBOLS, _MAPS = "/proc/kallsyms", "/proc/self/maps"
_LIMIT = 64 << 20  # bytes of a kernel's symbols; Debian's are 4 to 8 million
_CODE = frozenset("tTwW")
_DATA = frozenset({"current_task", "pcpu_hot", "__per_cpu_offset", "init_task", "page_offset_base"})
# Where sections and tables of code begin and end, which the linker's script calls by symbols.
_MARK = re.compile(
    r"_[se]?(?:init|exit)?text"
    r"|__\w+_text_(?:start|begin|end)"
    r"|__(?:init|exit)(?:text)?_(?:begin|end)"
    r"|__indirect_thunk_(?:start|end)"
)
_OTHER_ENTRIES = ("__do_sys_", "__se_sys_", "__ia32_")  # of what is called `__x64_sys_…` too
_NAME = 15  # characters that the kernel keeps of a process's name
_SYMBOL_WORDS = 3


def plugin() -> Path:
    """Return the plugin that was built with this hardcost.

    Raises:
        MachineError: It was not built.
    """
    return program_path(PLUGIN)


def symbol_requests() -> list[Request]:
    """Return the requests for the kernel's symbols."""
    return [read(name, name, tail=_LIMIT) for name in (_SYMBOLS, _MAPS)]


def kernel_symbols(answers: Sequence[Answer]) -> str:
    """Return the kernel's symbols for the plugin, out of the answers to `symbol_requests`.

    Raises:
        MachineError: The kernel does not say where its functions are.
    """
    texts = {one.name: one.text or "" for one in all_of(answers, ContentAnswer)}
    lines = [*_kernel_lines(texts[_SYMBOLS]), *_vdso_lines(texts[_MAPS])]
    if not any(line.startswith("kernel ") for line in lines):
        raise MachineError(
            "the guest's kernel does not say where its functions are",
            hint="counting by function needs a kernel with CONFIG_KALLSYMS",
        )
    return "".join(f"{line}\n" for line in lines)


def _kernel_lines(text: str) -> Iterator[str]:
    functions: dict[int, str] = {}
    for line in text.splitlines():
        words = line.replace("\t", " ").split(" ", _SYMBOL_WORDS - 1)
        if len(words) != _SYMBOL_WORDS:
            continue
        address, kind, name = int(words[0], 16), words[1], words[2]
        if name in _DATA:
            yield f"data {address:x} {name}"
        elif kind in _CODE and address >> 63 and not _MARK.fullmatch(name):
            known = functions.get(address)
            functions[address] = min(known or name, name, key=_plainness)
    for address, name in sorted(functions.items()):
        yield f"kernel {address:x} {name}"


def _plainness(name: str) -> tuple[bool, int, int, str]:
    """Return how plain a name is, the plainest first, where a place has several."""
    return (
        name.startswith(_OTHER_ENTRIES),
        len(name) - len(name.lstrip("_")),
        len(name),
        name,
    )


def _vdso_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.endswith("[vdso]"):
            begin, _, end = line.partition(" ")[0].partition("-")
            yield f"vdso {begin} {end}"


def words(
    files: Sequence[Path], out: Path, qemu: str, processors: int, *, stopped: bool
) -> tuple[str, ...]:
    """Return QEMU's words for the plugin.

    `files` are the paths under which QEMU has what `prepare` made, `out` is that of `OUT`. `qemu`
    is QEMU's version: the plugin's callbacks differ from 11.1 on, and no missing or new function
    shows which they are. So many `processors` execute anything. A guest that `stopped` for its
    snapshot reads the clock once more as it goes on.
    """
    own, symbols = files
    said = f"qemu={qemu.partition(' ')[0]},skip={int(stopped)},processors={processors}"
    return "-plugin", f"file={own},symbols={symbols},out={out},{said}"


def prepare(
    folder: Path, kernel: str, job: Sequence[Request], *, traced: bool = False
) -> tuple[Path, Path]:
    """Leave in `folder` the plugin and what it reads; return both files.

    `traced` has it note which process runs when.

    Raises:
        MachineError: The plugin was not built.
    """
    own, symbols = folder / "plugin", folder / "symbols"
    shutil.copyfile(plugin(), own)
    lines = [*_readings(), *_windows(job), *_programs(job)]
    if traced:
        lines += trace_points.trace_lines(kernel, job)
    symbols.write_text(kernel + "".join(f"{line}\n" for line in lines))
    return own, symbols


def _readings() -> Iterator[str]:
    for name in _READINGS:
        for address in elf_symbols.places_of(program_path(name).read_bytes(), trace_points.RDTSC):
            yield f"reading {address:x}"


def _windows(job: Sequence[Request]) -> Iterator[str]:
    """Yield the windows in which a job measures programs, by their numbers.

    The probe also reads the clock as it starts a service, before and after a program that is not
    measured, which may take far longer, and to calibrate that of several processors. Where a job
    has it read the clock in other ways, too, all windows are followed: nothing is yielded.
    """
    if any(isinstance(request, (MeasureCalls, Command, Counters, Watch)) for request in job):
        return
    timed = [one for one in job if isinstance(one, (RunProgram, StartService, Parallel))]
    for number, request in enumerate(timed):
        if isinstance(request, RunProgram) and request.clock is not None:
            yield f"window {number:x}"


def _programs(job: Sequence[Request]) -> Iterator[str]:
    """Yield the functions of the programs that a job installs in the guest."""
    for request in job:
        if not isinstance(request, Install):
            continue
        content = base64.b64decode(request.base64)
        functions = debug_files.functions(elf_symbols.build_id(content))
        functions = functions or elf_symbols.functions(content)
        if functions:
            yield f"program {Path(request.path).name[:_NAME]}"
        for one in functions:
            yield f"function {one.address:x} {one.size:x} {one.name}"
