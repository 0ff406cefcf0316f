"""The definitions in the files of a folder, each of which is one kind of something.

Each such folder has a list of its files. Whoever adds a file adds its line to the list.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TypeVar

Defined = TypeVar("Defined")


def import_kinds(package: str, files: Iterable[str], kind: type[Defined]) -> tuple[Defined, ...]:
    """Import files of a package; return the values of a kind that these define, in their order.

    Raises:
        ImportError: A file of the list does not exist, or can't be imported.
    """
    modules = (import_module(f"{package}.{name}") for name in files)
    found = (one for module in modules for one in vars(module).values() if isinstance(one, kind))
    return tuple({id(one): one for one in found}.values())  # a file may import another's
