"""QEMU's plugin that counts instructions by function: what it is given, and names for addresses.

What it writes is read in `protocol/plugin/`.

`counting.py` prepares it and collects what it saw. `kernel_lines.py` and `line_table.py` are for
counts by line, `trace_points.py` for traces.
"""
