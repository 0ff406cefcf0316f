"""Packages are unpacked in a process of its own: what runs over a limit is refused there."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard

import hardcost.supply.packages.archive
from hardcost.decompress import DamagedError
from hardcost.errors import InputError, MachineError
from hardcost.host import sandbox
from hardcost.supply.packages import unpack
from tests.supply.packages import hostile_archives
from tests.supply.packages.test_deb import deb
from tests.supply.packages.test_rpm import FILES, IMAGE, archive, entry, package

FEW = 64 << 20
"""Bytes of memory that the process may take besides Python's own; xz and zstd take more."""

# Alone in its process, so that its children's peak is that of what unpacked.
MEASURED = """
import json, pathlib, resource, sys
from hardcost.supply.packages import unpack
from hardcost.decompress import DamagedError
try:
    unpack.unpack(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
    why = None
except DamagedError as error:
    why = str(error)
print(json.dumps([why, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10]))
"""


def measured(folder: Path, content: bytes, ending: str = "deb") -> tuple[str | None, int, int]:
    """Return why a package is refused, the peak of memory, and the bytes left on the disk."""
    file, into = folder / f"x.{ending}", folder / "files"
    file.write_bytes(content)
    words = [sys.executable, "-c", MEASURED, str(file), str(into)]
    said = subprocess.run(words, check=True, capture_output=True, timeout=300)
    why, peak = json.loads(said.stdout.splitlines()[-1])
    used = {path.stat().st_ino: path.stat().st_size for path in into.rglob("*") if path.is_file()}
    return why, peak, sum(used.values())


def as_it_is(data: bytes) -> bytes:
    return data


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (deb(hostile_archives.chain(b"x")), "its archive is damaged"),
        (deb(hostile_archives.chain(b"g")), "its archive is damaged"),
        (deb(hostile_archives.chain(b"L")), "its archive is damaged"),
        (deb(hostile_archives.sparse(1 << 40)), "'sparse' has holes"),
        (deb(hostile_archives.sparse(1 << 20)), "'sparse' has holes"),
        (deb(hostile_archives.hard_links(1000, 25 << 20)), "its hard links have more than 8 GiB"),
        (deb(hostile_archives.long_name(b"L", 512 << 20), as_it_is), "its archive is damaged"),
        (deb(hostile_archives.long_name(b"x", 512 << 20), as_it_is), "its archive is damaged"),
    ],
    ids=[
        "pax",
        "pax for all",
        "long names",
        "1 TiB",
        "1 MiB",
        "hard links",
        "long name",
        "long attributes",
    ],
)
def test_a_package_that_asks_for_much_is_refused_without_taking_it(
    tmp_path: Path, content: bytes, message: str
) -> None:
    why, peak, used = measured(tmp_path, content)
    assert message in (why or "")
    assert peak < 2 * FEW
    assert used <= 25 << 20


def test_hard_links_stay_links(tmp_path: Path) -> None:
    file = tmp_path / "x.deb"
    file.write_bytes(deb(hostile_archives.hard_links(10, 1 << 20)))
    assert unpack.unpack(file, tmp_path / "files")["Version"] == "1"
    assert (tmp_path / "files" / "link9").stat().st_nlink == 11


def test_an_rpm_s_hard_links_have_the_content_that_the_last_has(tmp_path: Path) -> None:
    names = ("lib/modules/a.ko", "lib/modules/b.ko")
    first, last = (
        entry(name, data, links=2) for name, data in zip(names, (b"", b"x"), strict=True)
    )
    file = tmp_path / "x.rpm"
    file.write_bytes(package(gzip.compress(first + last + archive(FILES))))
    unpack.unpack(file, tmp_path / "files")
    assert [(tmp_path / "files" / name).read_bytes() for name in names] == [b"x", b"x"]
    assert (tmp_path / "files" / IMAGE).is_file()


def test_of_a_kernel_s_package_only_the_kernel_comes_out(tmp_path: Path) -> None:
    wanted = (
        *("boot/vmlinuz-1", "./lib/modules/1/a.ko", "usr/lib/modules/1/vmlinuz"),
        *("usr/lib/debug/boot/vmlinux-1", "usr/lib/debug/lib/modules/1/vmlinux"),
    )
    others = ("etc/passwd", "usr/lib/debug/lib/modules/1/a.ko", "boot", "usr/lib/modules-load.d/a")
    tar = b"".join(hostile_archives.member(name.encode(), b"x") for name in (*others[:2], *wanted))
    tar += hostile_archives.header(b"lib/modules/1/link", 0, b"2", b"/etc/passwd")
    file, into = tmp_path / "x.deb", tmp_path / "files"
    file.write_bytes(deb(tar + hostile_archives.END))
    unpack.unpack(file, into, only_kernel=True)
    found = {str(path.relative_to(into)) for path in into.rglob("*") if not path.is_dir()}
    assert found == {name.removeprefix("./") for name in wanted}


def test_more_memory_than_a_gibibyte_is_not_taken(tmp_path: Path) -> None:
    """A window of 2 GiB, which zstd may ask for."""
    long = zstandard.ZstdCompressionParameters(window_log=31, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=long)
    file = tmp_path / "x.deb"
    file.write_bytes(deb(hostile_archives.END, packer.compress))
    said = subprocess.run(
        [sys.executable, "-c", MEASURED, str(file), str(tmp_path / "files")],
        check=True,
        capture_output=True,
        timeout=300,
    )
    _, peak = json.loads(said.stdout.splitlines()[-1])
    assert peak < 1 << 30


@pytest.mark.parametrize(
    ("limit", "value", "message"),
    [
        ("MOST_BYTES", 2 << 20, "more than 0 GiB, unpacked"),
        ("MOST_MEMBERS", 3, "more than 3 members"),
        ("DEEPEST", 1, "'b/c/d' lies below more than 1 folders"),
        ("LONGEST_NAME", 5, "a name in its archive has 5 bytes"),
    ],
)
def test_each_limit_refuses_what_runs_over_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, message: str
) -> None:
    names = (b"a", b"b/c/d", b"e", b"f")
    tar = b"".join(hostile_archives.member(name, b"x") for name in names)
    tar += hostile_archives.member(b"g", bytes(4 << 20)) + hostile_archives.END
    monkeypatch.setattr(hardcost.supply.packages.archive, limit, value)
    found = hardcost.supply.packages.archive.members(iter([tar[:3072], tar[3072:]]), "tar")
    with pytest.raises(DamagedError, match=message):
        hardcost.supply.packages.archive.write(found, tmp_path, None)


def test_folders_that_are_no_members_count_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tar = hostile_archives.member(b"a/b/x", b"x") + hostile_archives.member(b"c/d/x", b"x")
    monkeypatch.setattr(hardcost.supply.packages.archive, "MOST_MEMBERS", 3)
    found = hardcost.supply.packages.archive.members(iter([tar + hostile_archives.END]), "tar")
    with pytest.raises(DamagedError, match="more than 3 folders"):
        hardcost.supply.packages.archive.write(found, tmp_path, None)


def test_what_unpacks_sees_no_other_file_and_no_network(tmp_path: Path) -> None:
    if sandbox.why_not() is not None:
        pytest.fail(f"no sandbox works here: {sandbox.why_not()}")
    file = tmp_path / "x.deb"
    file.write_bytes(deb(hostile_archives.END))
    seen: list[list[str]] = []

    def output(argv: list[str], **_rest: object) -> bytes:
        seen.append(argv)
        return b'{"fields": {}}'

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("hardcost.host.process.output", output)
        unpack.unpack(file, tmp_path / "files")
    assert "--net" in seen[0]
    assert not {"ro", str(tmp_path)} <= set(seen[0])
    written = [seen[0][at + 1] for at, word in enumerate(seen[0]) if word == "rw"]
    assert written == [str(tmp_path / "files")]


def test_without_a_sandbox_it_is_said_and_the_limits_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sandbox, "why_not", lambda: "no namespaces")
    file = tmp_path / "x.deb"
    file.write_bytes(deb(hostile_archives.sparse(1 << 40)))
    with pytest.raises(DamagedError, match="has holes"):
        unpack.unpack(file, tmp_path / "files")
    assert "packages are unpacked without a sandbox: no namespaces" in caplog.text


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (b"", DamagedError, "what reads it was killed"),
        (b'{"missing": "no libarchive.so.13"}', MachineError, "can't be used: no libarchive"),
        (b'{"errno": 28}', OSError, "the disk is full"),
    ],
)
def test_what_goes_wrong_there_is_told_apart(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: bytes,
    error: type[Exception],
    message: str,
) -> None:
    monkeypatch.setattr("hardcost.host.process.output", lambda *_args, **_rest: answer)
    file = tmp_path / "x.deb"
    file.write_bytes(b"")
    with pytest.raises(error, match=message):
        unpack.unpack(file, tmp_path / "files")


def test_a_package_is_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"):
        unpack.unpack(tmp_path, tmp_path / "files")
