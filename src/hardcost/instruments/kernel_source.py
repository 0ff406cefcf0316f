"""Which file of Linux's source a function of the kernel is in, by the function's name.

`kernel_source.txt` has a line for each file: its name, then its functions. They are those of the
kernel that hardcost builds, by its object files; and of Debian's, by what the source defines in the
parts that it shares with most systems. A name that several files have stands under the folder that
they have in common. `bench/documents/kernel_functions.py` writes the table, of Linux 6.1; in other
versions a function may have moved.
"""

from __future__ import annotations

from functools import cache
from importlib import resources


def file_of(function: str) -> str | None:
    """Return the file or folder of a kernel's function; None if it is not known.

    The name may have what a compiler or a module adds: `audit_filter_rules.constprop.0`, or
    `ext4_map_blocks [ext4]`.
    """
    return _files().get(function.partition(" ")[0].partition(".")[0])


def module_of(function: str) -> str | None:
    """Return the module that a kernel's function is in; None if it is in none."""
    _, opens, module = function.partition(" [")
    return module.removesuffix("]") if opens else None


@cache
def _files() -> dict[str, str]:
    text = (resources.files("hardcost.instruments") / "kernel_source.txt").read_text("utf-8")
    found: dict[str, str] = {}
    for line in text.splitlines():
        file, *functions = line.split(" ")
        found |= dict.fromkeys(functions, file)
    return found
