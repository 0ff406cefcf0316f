"""DWARF says which line each piece of a function's code comes from, and changes no code."""

import subprocess
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.machines.vm.plugin import elf_symbols, line_table

PROGRAM = """static volatile int sink;

__attribute__((noinline)) int twice(int value)
{
    sink = value;
    if (value > 3)
        sink = 2;
    return 2 * value;
}

void _start(void)
{
    sink = twice(sink) NUMBER;
    for (;;)
        ;
}
"""


def compiled(folder: Path, name: str, *flags: str, number: str = "+ 1") -> Path:
    source = folder / "program.c"
    source.write_text(PROGRAM)
    program = folder / name
    subprocess.run(
        [
            *("gcc", "-O2", "-nostdlib", "-static", "-no-pie", "-Wl,--build-id=sha1"),
            *(f"-DNUMBER={number}", *flags, "-o", str(program), str(source)),
        ],
        check=True,
    )
    return program


def test_each_piece_of_a_function_has_its_line(tmp_path: Path) -> None:
    program = compiled(tmp_path, "program", "-gdwarf-5")
    (one,) = (each for each in elf_symbols.functions(program.read_bytes()) if each.name == "twice")
    rows = line_table.rows(program, one.address, one.address + one.size)
    assert rows[0].address == one.address
    assert rows[0].line in {3, 4, 5}
    assert {row.line for row in rows} >= {5, 8}
    assert {row.line for row in rows} <= set(range(3, 10))
    assert {row.file.rpartition("/")[2] for row in rows} == {"program.c"}
    assert sorted(rows, key=lambda row: row.address) == list(rows)


def test_older_debug_data_say_the_same(tmp_path: Path) -> None:
    new = compiled(tmp_path, "new", "-gdwarf-5")
    old = compiled(tmp_path, "old", "-gdwarf-4")
    (one,) = (each for each in elf_symbols.functions(new.read_bytes()) if each.name == "twice")
    ends = one.address, one.address + one.size
    lines = [[(row.address, row.line) for row in line_table.rows(it, *ends)] for it in (new, old)]
    assert lines[0] == lines[1]


def test_debug_data_leave_the_code_as_it_is(tmp_path: Path) -> None:
    plain = line_table.code_digest(compiled(tmp_path, "plain"))
    assert line_table.code_digest(compiled(tmp_path, "debug", "-g")) == plain
    assert line_table.code_digest(compiled(tmp_path, "other", "-g", number="+ 2")) != plain


def test_code_without_debug_data_has_no_lines(tmp_path: Path) -> None:
    program = compiled(tmp_path, "program")
    (one,) = (each for each in elf_symbols.functions(program.read_bytes()) if each.name == "twice")
    assert line_table.rows(program, one.address, one.address + one.size) == ()


def test_a_damaged_image_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "vmlinux").write_bytes(b"\x7fELF\x02\x01 and then nothing of use")
    with pytest.raises(MachineError, match="can't be used"):
        line_table.code_digest(tmp_path / "vmlinux")
