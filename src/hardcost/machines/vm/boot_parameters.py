"""Which parameters a kernel knows, out of its image and the files of its modules."""

from __future__ import annotations

import difflib
import re
from functools import cached_property
from pathlib import Path

# Names of parameters are strings of their own in the image, some followed by the sign.
_STRING = re.compile(rb"(?<=\0)[A-Za-z][\w.,-]{1,63}(?==?\0)")
_OF_MODULE = re.compile(rb"(?<![^\0])parmtype=(\w+):")
_FOR_EVERY_MODULE = frozenset({"dyndbg", "async_probe"})
_CLOSE = 0.75  # of difflib's ratio: one slip in a word of four letters, three in one of twelve
_LENGTHS = 4  # most by which a name that was meant is longer or shorter
_LISTED_FIRST = ("mitigations", "audit", "selinux", "apparmor", "lockdown", "quiet", "nosmt")


def normal(name: str) -> str:
    """Return a parameter's name as the kernel compares names: `-` and `_` are one."""
    return name.replace("-", "_")


class KernelParameters:
    """The parameters of the kernel in `image` (a vmlinux) and of its `modules`, if these are known.

    The image's strings are more than its parameters: what is not among them is no parameter, while
    what is may be one.
    """

    def __init__(self, image: Path, modules: Path | None) -> None:
        self._image = image
        self._modules = modules

    def may_know(self, name: str) -> bool:
        """Say whether the image holds a string of that name."""
        return normal(name) in self._strings

    def has_module(self, name: str) -> bool | None:
        """Say whether there is a module of that name; None where no modules are known."""
        return None if self._modules is None else normal(name) in self._files

    def of_module(self, name: str) -> frozenset[str] | None:
        """Return the parameters of a module that is not built in; None where that can't be read."""
        path = self._files.get(normal(name))
        if path is None or path.suffix != ".ko":
            return None
        return _FOR_EVERY_MODULE | {one.decode() for one in _OF_MODULE.findall(path.read_bytes())}

    def built_in(self, module: str) -> bool:
        """Say whether the image holds a parameter of that module."""
        start = f"{normal(module)}."
        return any(name.startswith(start) for name in self._strings)

    def close_to(self, name: str) -> str | None:
        """Return the name that was probably meant; None if nothing is near."""
        wanted, dotted = normal(name), "." in name
        if "." in name:
            module, _, own = wanted.partition(".")
            known = self.of_module(module) or frozenset()
            near = difflib.get_close_matches(own, known, 1, _CLOSE)
            if near:
                return f"{module}.{near[0]}"
        candidates = [
            one
            for one in self._strings
            if ("." in one) == dotted and abs(len(one) - len(wanted)) <= _LENGTHS
        ]
        for among in (_LISTED_FIRST, sorted(candidates)):
            near = difflib.get_close_matches(wanted, among, 1, _CLOSE)
            if near:
                return near[0]
        return None

    @cached_property
    def _strings(self) -> frozenset[str]:
        found = _STRING.findall(self._image.read_bytes())
        return frozenset(normal(one.decode()) for one in found)

    @cached_property
    def _files(self) -> dict[str, Path]:
        if self._modules is None:
            return {}
        return {
            normal(path.name.partition(".ko")[0]): path for path in self._modules.rglob("*.ko*")
        }
