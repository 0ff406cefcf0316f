"""What `fork` copies and `exec` runs is the measured program, whatever the probe is."""

from __future__ import annotations

import asyncio
import struct
from pathlib import Path
from statistics import median

import pytest

from hardcost.instruments.names import INSTRUMENTS
from hardcost.machines.vm import snapshot
from hardcost.machines.vm.argv import Hardware, Recipe
from hardcost.machines.vm.boot_kernel import debian_kernel
from hardcost.machines.vm.content import cpio, initramfs
from hardcost.protocol.answers import Answer, CallAnswer, all_of
from hardcost.protocol.boot import Boot
from hardcost.supply.cache.cache import Cache
from hardcost.workloads import syscalls
from tests.machines.vm.content.test_cpio import entries

pytestmark = [pytest.mark.vm, pytest.mark.slow]

ICOUNT = Hardware("icount")
CALLS = syscalls.KIND.read_parameters({"calls": "null+open+fork+exec"})
JOB = syscalls.requests(CALLS, INSTRUMENTS["insn"])

LOAD, NOTE = 1, 4
READ = 4
FAR, LARGE = 0x4000_0000, 1 << 20  # far from what else is loaded; bytes


def padded(program: bytes, *, loaded: bool) -> bytes:
    """Return a program with a megabyte more, which the kernel loads and `fork` copies, or not.

    A header that means nothing to the kernel becomes one more segment that is loaded.
    """
    (first,) = struct.unpack_from("<Q", program, 0x20)
    size, count = struct.unpack_from("<HH", program, 0x36)
    places = [first + size * number for number in range(count)]
    # Newer toolchains make more than one.
    note = next(at for at in places if struct.unpack_from("<I", program, at) == (NOTE,))
    larger = bytearray(program + bytes(-len(program) % 4096))
    segment = struct.pack("<IIQQQQQQ", LOAD, READ, len(larger), FAR, FAR, LARGE, LARGE, 4096)
    if loaded:
        larger[note : note + size] = segment
    return bytes(larger) + b"\xff" * LARGE


def samples(cache: Cache, archive: Path, folder: Path) -> dict[str, tuple[int, ...]]:
    """Return what each call costs in a guest of that archive, sample by sample."""
    recipe = Recipe(ICOUNT, Boot(), debian_kernel(cache).image, archive)

    async def measured() -> tuple[Answer, ...]:
        return (await snapshot.restore(recipe, folder, cache, JOB, 120)).answers

    async def agreed() -> tuple[Answer, ...]:
        await snapshot.take(recipe, folder, cache)
        known = [await measured()]
        while (latest := await measured()) not in known:
            known.append(latest)
        return latest

    folder.mkdir()
    calls = all_of(asyncio.run(agreed()), CallAnswer)
    return {call.name: tuple(call.samples) for call in calls}


def with_larger(archive: Path, path: Path, *, loaded: bool) -> Path:
    """Write an archive whose probe is larger, and loads what is more, or doesn't."""
    files = {entry[0]: cpio.ArchiveFile(*entry) for entry in entries(archive.read_bytes())[:-1]}
    probe = padded(files["init"].content, loaded=loaded)
    files["init"] = cpio.regular("init", probe, 0o755)
    path.write_bytes(cpio.archive(list(files.values())))
    return path


def test_what_the_probe_loads_enters_no_count(cache_root: Path, tmp_path: Path) -> None:
    # When `fork` copied the probe itself and `exec` ran it, they rose by 8,800 and 23,000.
    cache = Cache(cache_root)
    archive = initramfs.initramfs(cache)
    one, other = (
        samples(cache, with_larger(archive, tmp_path / f"{loaded}.cpio", loaded=loaded), folder)
        for loaded, folder in ((False, tmp_path / "one"), (True, tmp_path / "other"))
    )
    assert one.keys() == {"null", "open", "fork", "exec"}
    for name in ("null", "open"):
        assert one[name] == other[name]
    # The kernel's caches of the objects that it keeps for areas of memory are filled otherwise.
    for name in ("fork", "exec"):
        assert median(one[name]) == pytest.approx(median(other[name]), rel=0.0005)
