"""Put what runs in guests into the wheel, and tag the wheel with what it needs to run."""

import re
import struct
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The programs load no shared library, not even the C library, so any Linux on x86_64 runs them that
# has the calls they make. Of the tags that say so, and that indexes take, this is the oldest that
# Rust supports (glibc 2.17, with the Linux of its day).
_TAG = "py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64"
_GLIBC = (2, 17)
_PROGRAMS = "src/hardcost/bin"
_X86_64 = 62
_DYNAMIC, _LOADER = 2, 3


class ProbeHook(BuildHookInterface[BuilderConfig]):
    """Build the programs for guests, and QEMU's plugin, with Cargo."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Prepare a wheel; an editable install finds what `make setup` built.

        Raises:
            ValueError: A program is not what the tag says.
        """
        if version == "editable":
            return
        for script in ("scripts/build-probe", "scripts/build-plugin"):
            subprocess.run([script], cwd=self.root, check=True)  # noqa: S603 our own
        for program in Path(self.root, _PROGRAMS).glob("hardcost-*"):
            if program.suffix == ".so":
                check_plugin(program)
            else:
                check_static(program)
        build_data["pure_python"] = False
        build_data["tag"] = _TAG


def check_static(program: Path) -> None:
    """Check that a program is for x86_64 and names neither a loader nor a shared library.

    Raises:
        ValueError: It is another one.
    """
    content = program.read_bytes()
    machine, headers_at = struct.unpack_from("<H12xQ", content, 0x12)
    size, count = struct.unpack_from("<HH", content, 0x36)
    kinds = {struct.unpack_from("<I", content, headers_at + i * size)[0] for i in range(count)}
    if machine != _X86_64 or kinds & {_DYNAMIC, _LOADER}:
        raise ValueError(f"{program} is no static program for x86_64, as {_TAG} has it")


def check_plugin(plugin: Path) -> None:
    """Check that QEMU's plugin asks for no newer C library than the tag allows.

    Raises:
        ValueError: It does.
    """
    versions = {
        tuple(map(int, found.groups()))
        for found in re.finditer(rb"GLIBC_(\d+)\.(\d+)", plugin.read_bytes())
    }
    if any(version > _GLIBC for version in versions):
        raise ValueError(f"{plugin} needs a newer C library than {_TAG} says")
