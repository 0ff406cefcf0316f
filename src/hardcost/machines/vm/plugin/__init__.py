"""QEMU's plugin that counts instructions by function: what it is given, and names for addresses.

What it writes is read in `protocol/plugin/`. The plugin itself is `crates/tcg-plugin`.

- `counting.py`: the plugin's files: the kernel's symbols, the windows; collects what it counted
- `code_maps.py`: where programs of a Debian guest are mapped (`exported-functions.pl`)
- `elf_symbols.py`: functions of an ELF file; `debug_files.py`: those of its debug file
- `kernel_lines.py`: builds the twin with debug data, for counts by line; `line_table.py`: its lines
- `trace_points.py`: the kernel's functions that are noted for a trace
"""
