"""What a source can do to the machine that it is built on: nothing."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.host import process, sandbox
from hardcost.host.output import MOST_BYTES
from hardcost.protocol.boot import KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels import patches
from hardcost.supply.kernels.builder import Kernels
from hardcost.supply.kernels.make import Trust
from hardcost.supply.kernels.source import from_folder
from tests.supply.kernels import linux
from tests.supply.kernels.linux import THREE, added, changed

works = pytest.mark.skipif(sandbox.why_not() is not None, reason=str(sandbox.why_not()))
FAMILIES = """import itertools, socket
def makes(family, kind):
    try: return socket.socket(family, kind)
    except OSError: return None
every = itertools.product(range(64), (1, 2, 3, 5))
raise SystemExit(not any(makes(*one) for one in every if one[0] != socket.AF_UNIX))"""
IO_URING = """import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(425, 1, 0)
raise SystemExit(ctypes.get_errno() == 38)"""
FAKE_CONFIG = "(echo '# Automatically generated file'; cat Kconfig) >$(O)/.config"


def in_one_line(code: str) -> str:
    """Return Python that does the same, with nothing that make or a shell takes for its own."""
    packed = base64.b64encode(code.encode()).decode()
    return f'import base64; exec(base64.b64decode("{packed}"))'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the user's home, which holds a secret."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "secret").write_text("a secret\n")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("A_TOKEN", "a secret")
    return folder


def source(tmp_path: Path, *, build: str = "true", configure: str = "true") -> Path:
    """Return a source that runs commands when it is configured and when it is built."""
    folder = linux.make(tmp_path / "linux")
    text = linux.MAKEFILE.replace(f"\t{FAKE_CONFIG}", f"\t{configure}\n\t{FAKE_CONFIG}")
    text = text.replace("\t! grep nonsense", f"\t{build}\n\t! grep nonsense")
    assert FAKE_CONFIG in linux.MAKEFILE
    (folder / "Makefile").write_text(text)
    return folder


def kernels(tmp_path: Path, **trust: object) -> Kernels:
    return Kernels(Cache(tmp_path / "cache"), tmp_path / "linux", trust=Trust(**trust))  # type: ignore[arg-type]


def build(tmp_path: Path) -> Path:
    """Build what `source` made, and return the image."""
    return asyncio.run(kernels(tmp_path).build(KernelRecipe())).image


# Where the sandbox fails, these do no harm either.
ATTEMPTS = {
    "write to the home": "echo owned >{home}/owned",
    "read a secret": "cat {home}/secret",
    "read the environment": "cat /proc/1/environ /proc/self/environ | grep -a secret",
    "read what is root's": "test -r /etc/shadow",
    "write to the system": "test -w /usr",
    "write to its source": "echo owned >>$(CURDIR)/kernel/audit.c",
    "read the rest of the cache": "cat {cache}/kernels/*/about.json",
    "write to the rest of the cache": "echo owned >{cache}/kernels/owned",
    "seal its own output": "echo owned >$(O)/../owned",
    "change the kernel's settings": "cat /proc/sys/kernel/core_pattern",
    "open a socket": "{python} -c 'import socket;"
    ' socket.create_connection(("127.0.0.1", {port}))\'',
    "reach an abstract socket": '{python} -c "import socket;'
    " socket.socket(socket.AF_UNIX).connect('\\0{name}')\"",
    "reach the hypervisor": "{python} -c 'import socket; socket.socket(socket.AF_VSOCK)'",
    "make a socket of any family but AF_UNIX": "{python} -c '{families}'",
    "have io_uring make it": "{python} -c '{io_uring}'",
    "kill others": "kill -9 {pid}",
    "become root": "unshare --user --map-root-user true",
    "mount": "unshare --mount true",
    "see other processes": "kill -0 {pid}",
}


@works
@pytest.mark.parametrize("what", ATTEMPTS)
@pytest.mark.parametrize("step", ["configure", "build"])
def test_what_a_source_tries_fails(tmp_path: Path, home: Path, what: str, step: str) -> None:
    name = f"hardcost-{os.getpid()}"
    kept = tmp_path / "cache/kernels/0123456789abcdef"
    kept.mkdir(parents=True)
    (kept / "about.json").write_text("{}")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as abstract,
        subprocess.Popen(["sleep", "600"]) as other,
    ):
        abstract.bind(f"\0{name}")
        abstract.listen()
        words = ATTEMPTS[what].format(
            home=home,
            cache=tmp_path / "cache",
            port=server.getsockname()[1],
            name=name,
            pid=other.pid,
            python="/usr/bin/python3",
            families=in_one_line(FAMILIES),
            io_uring=in_one_line(IO_URING),
        )
        done = f"if {words}; then touch $(O)/succeeded; else touch $(O)/failed; fi"
        folder = source(tmp_path, **{step: done})
        before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        try:
            build(tmp_path)
            assert other.poll() is None
        finally:
            other.kill()
        output = "o" if step == "build" else "kconfig"
        (place,) = (tmp_path / "cache/builds").glob("*/seed")
    assert (place.parent / output / "failed").exists()
    assert not (place.parent / output / "succeeded").exists()
    assert not list(tmp_path.rglob("owned"))
    assert all(path.read_bytes() == content for path, content in before.items())


@works
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="there is no python3")
def test_the_attempts_on_the_network_succeed_outside(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = f"import socket; socket.create_connection(('127.0.0.1', {server.getsockname()[1]}))"
        subprocess.run(["/usr/bin/python3", "-c", code], check=True, cwd=tmp_path)


@works
@pytest.mark.parametrize("step", ["configure", pytest.param("build", marks=pytest.mark.slow)])
def test_what_a_source_prints_without_end_fills_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setattr(process, "_MOST_BYTES", 1 << 20)
    source(tmp_path, **{step: "yes"})
    with pytest.raises(MachineError, match="printed more than"):
        build(tmp_path)
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert written < MOST_BYTES + (1 << 20)


@works
def test_a_process_that_a_build_leaves_ends_with_it(tmp_path: Path, home: Path) -> None:
    mark = f"61{os.getpid()}"
    source(tmp_path, build=f"setsid sleep {mark} >/dev/null 2>&1 &")
    build(tmp_path)
    assert home.exists()
    assert not sleepers(mark)


@works
@pytest.mark.parametrize("step", ["configure", "build"])
def test_a_build_ends_with_hardcost_however_that_ends(tmp_path: Path, step: str) -> None:
    mark = f"62{os.getpid()}"
    source(tmp_path, **{step: f"setsid sleep {mark}"})
    code = (
        "import sys; from pathlib import Path; from tests.host import test_sandbox as t"
        "; t.build(Path(sys.argv[1]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path], cwd=Path(__file__).parents[2]
    )
    try:
        await_that(lambda: sleepers(mark))
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    await_that(lambda: not sleepers(mark))


@works
def test_what_a_build_leaves_leads_nobody_out_of_it(tmp_path: Path, home: Path) -> None:
    for odd in (
        f"ln -sf {home}/secret $(O)/System.map.",
        "mkfifo $(O)/pipe",
        f"mkdir -p $(O)/include; ln -s {home} $(O)/include/out",
    ):
        shutil.rmtree(tmp_path / "linux", ignore_errors=True)
        source(tmp_path, build=odd)
        with pytest.raises(MachineError, match="the build left"):
            build(tmp_path)
    shutil.rmtree(tmp_path / "linux")


@works
def test_nothing_is_written_through_a_link_that_a_build_left(tmp_path: Path) -> None:
    source(tmp_path, build="ln -s ../linked $(O)/.config.; ln -s .config $(O)/manifest")
    (tmp_path / "linux/Makefile").write_text(
        (tmp_path / "linux/Makefile").read_text().replace("../linked", "vmlinux")
    )
    first = build(tmp_path)
    (place,) = (one.parent for one in (tmp_path / "cache/builds").glob("*/seed"))
    assert not (place / "o/manifest").is_symlink()
    assert (place / "o/.config").read_text() == first.with_name("config").read_text()


@works
def test_a_patch_that_changes_the_build_leaves_nothing_to_other_kernels(tmp_path: Path) -> None:
    folder = source(tmp_path, build="test ! -e kernel/Makefile || $(MAKE) -f kernel/Makefile")
    heard: list[str] = []
    made = Kernels(Cache(tmp_path / "cache"), trust=Trust(warn=heard.append))
    made.__dict__["source"] = from_folder(folder)  # instead of Debian's
    asyncio.run(made.build(KernelRecipe()))
    assert not heard
    path, lines = tmp_path / "sub.patch", ("all:", "\ttouch $(O)/left; ! touch $(CCACHE_DIR)/left")
    path.write_text(added("kernel/Makefile", *lines) + THREE)
    recipe = KernelRecipe(patches=(str(path),))
    patched = asyncio.run(made.build(recipe))
    assert "THREE" in patched.image.read_text()
    assert "touch" in (patched.image.parent / "log").read_text()
    assert not list((tmp_path / "cache").rglob("left"))
    assert len(list((tmp_path / "cache/builds").glob("*/o"))) == 1
    (remark,) = heard
    assert made.remarks(recipe) == (remark,)
    assert "sub.patch changes kernel/Makefile, which runs on this machine" in remark
    assert "the build is confined (no network, no files but its own)" in remark


def test_a_patch_of_plain_code_is_no_remark(tmp_path: Path) -> None:
    path = tmp_path / "three.patch"
    path.write_text(THREE)
    (patch,) = patches.read([str(path)])
    assert patch.run == ()
    assert all(one.is_ours and not one.run for one in patches.read(["flat"]))


@pytest.mark.parametrize(
    "name",
    [
        *("Makefile", "kernel/Makefile", "arch/x86/Makefile.um", "kernel/Kbuild", "Kconfig"),
        *("lib/Kconfig.debug", "scripts/link-vmlinux.sh", "scripts/mod/modpost.c", "usr/x.c"),
        *("tools/objtool/check.c", "arch/x86/boot/tools/build.c", "certs/extract-cert.c"),
        *("arch/x86/entry/vdso/vdso2c.h", "lib/gen_crc32table.c", "lib/raid6/mktables.c"),
        *("kernel/gen_kheaders.sh", "lib/build_OID_registry.pl", "include/uapi/linux/elf.h"),
        *("security/selinux/include/classmap.h", "arch/x86/tools/relocs.c", "init/Kconfig"),
    ],
)
def test_what_runs_in_a_build_is_known_by_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.patch"
    path.write_text(changed(name, "a", "b"))
    (patch,) = patches.read([str(path)])
    assert patch.run == (name,)


def test_without_a_sandbox_what_others_wrote_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "why_not", lambda: "unshare: not permitted")
    source(tmp_path, configure="touch $(O)/ran")
    with pytest.raises(MachineError, match="can't be confined: unshare") as caught:
        build(tmp_path)
    assert "--allow-unconfined-build" in (caught.value.problems[0].hint or "")
    assert not list((tmp_path / "cache").rglob("ran"))
    heard: list[str] = []
    made = kernels(tmp_path, unconfined=True, warn=heard.append)
    image = asyncio.run(made.build(KernelRecipe())).image
    assert image.read_text() == linux.AUDIT
    assert "not confined (unshare: not permitted)" in heard[0]


@works
def test_a_kernel_is_the_same_with_and_without_a_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source(tmp_path)
    one = asyncio.run(kernels(tmp_path).build(KernelRecipe()))
    content = one.image.read_bytes(), one.config.read_bytes(), one.release
    assert one.image.stat().st_uid == os.getuid()
    shutil.rmtree(tmp_path / "cache")
    monkeypatch.setattr(sandbox, "why_not", lambda: "not here")
    other = asyncio.run(kernels(tmp_path, unconfined=True).build(KernelRecipe()))
    assert other.name == one.name
    assert (other.image.read_bytes(), other.config.read_bytes(), other.release) == content


def sleepers(mark: str) -> list[str]:
    """Return the processes that sleep for so many seconds."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", mark.encode()]:
            found.append(path.parent.name)
    return found


def await_that(holds: object) -> None:
    """Wait until something holds."""
    until = time.monotonic() + 60
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < until
        time.sleep(0.05)
