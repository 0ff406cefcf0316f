"""The parts of a kernel: the effects of its patches, and all parts as a value for another host."""

from __future__ import annotations

from dataclasses import dataclass

from hardcost.supply.kernels.patch_overlay import Overlay
from hardcost.supply.kernels.source import KernelSource, SourceParts


@dataclass(frozen=True)
class KernelParts:
    """A kernel's name and title, its source, whole configuration and changes to the source.

    `asked` is what its recipe requests, `names` those of its patches. `foreign`: code written by
    others runs on the host during the build.
    """

    name: str
    title: str
    source: SourceParts
    config: str
    names: tuple[str, ...]
    asked: tuple[tuple[str, str], ...]
    overlay: Overlay
    foreign: bool


@dataclass(frozen=True)
class Patched:
    """The result of patching the source: names, differences, and the source for Kconfig.

    `in_tree`: a tree of that source with the differences is compiled; else the source itself.
    `foreign`: code written by others runs on this machine during the build; `remarks` describe it.
    """

    names: tuple[str, ...]
    foreign: bool
    remarks: tuple[str, ...]
    overlay: Overlay
    configured: KernelSource
    in_tree: bool
