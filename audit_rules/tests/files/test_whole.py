"""Files written whole or not at all: what is kept, what is followed, and what is left behind."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from auditrules.files import whole
from auditrules.files.whole import UnwritableError, check, replaces, write

OLD, NEW = b"old content\n", b"new\n" * 5000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "x.rules"
    path.write_bytes(OLD)
    return path


@contextmanager
def small_files() -> Iterator[None]:
    """Let no file grow beyond 4 KiB, as if the disk was full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def alone(file: Path) -> bool:
    """Say whether nothing was left beside a file."""
    return [one.name for one in file.parent.iterdir()] == [file.name]


def test_content_that_does_not_fit_leaves_the_old_one(file: Path) -> None:
    with small_files(), pytest.raises(UnwritableError, match="File too large"):
        write(file, NEW)
    assert file.read_bytes() == OLD
    assert alone(file)


@pytest.mark.parametrize("call", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.EIO, "I/O error"), KeyboardInterrupt()])
def test_an_end_before_it_is_renamed_leaves_the_old_content(
    file: Path, monkeypatch: pytest.MonkeyPatch, call: str, error: BaseException
) -> None:
    def ends(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(os, call, ends)
    monkeypatch.setattr(type(file), "replace", ends if call == "replace" else type(file).replace)
    with pytest.raises((UnwritableError, KeyboardInterrupt)):
        write(file, NEW)
    assert file.read_bytes() == OLD
    assert alone(file)


def test_the_content_is_on_the_disk_before_the_name_is(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bytes] = []
    flush = os.fsync

    def flushed(descriptor: int) -> None:
        seen.append(file.read_bytes())
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", flushed)
    write(file, NEW)
    assert seen == [OLD, NEW]  # of the file, and of the folder after it was renamed


def test_sigterm_leaves_the_old_content_and_nothing_else(tmp_path: Path) -> None:
    """The command waits while it flushes, and is ended there."""
    folder = tmp_path / "out"
    folder.mkdir()
    file = folder / "cheaper.rules"
    file.write_bytes(OLD)
    (tmp_path / "x.rules").write_text("-a always,exit -F arch=b64 -S open -k x\n")
    program = (
        "import os, sys, time\n"
        "os.fsync = lambda _: (print('flushing', flush=True), time.sleep(600))\n"
        "from auditrules.cli.main import main; main()\n"
    )
    words = ["optimize", str(tmp_path / "x.rules"), "-o", str(file), "--force"]
    argv = [sys.executable, "-c", program, *words]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"flushing\n"
        (made,) = set(folder.iterdir()) - {file}
        assert made.name.startswith(".cheaper.rules.")
        assert made.name.endswith(whole.SUFFIX)
        started.send_signal(signal.SIGTERM)
        assert started.wait() == 130
    assert file.read_bytes() == OLD
    assert alone(file)


def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(tmp_path / "x", NEW)
    finally:
        os.umask(before)
    assert (tmp_path / "x").read_bytes() == NEW
    assert (tmp_path / "x").stat().st_mode & 0o7777 == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_mode_owner_and_attributes_are_kept(file: Path, mode: int) -> None:
    file.chmod(mode)
    if os.geteuid() == 0:
        os.chown(file, 1234, 2345)
    with contextlib.suppress(OSError):  # not every file system has them
        os.setxattr(file, "user.origin", b"stig")
    before, attributes = file.stat(), os.listxattr(file)
    write(file, NEW)
    after = file.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert os.listxattr(file) == attributes
    assert after.st_ino != before.st_ino


def test_another_group_may_do_no_more_than_everybody(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> NoReturn:
        raise PermissionError(errno.EPERM, "not permitted")

    file.chmod(0o664)
    monkeypatch.setattr(os, "fchown", refused)
    write(file, NEW)
    assert file.stat().st_mode & 0o7777 == 0o644


def test_links_stay_and_their_target_is_replaced(tmp_path: Path, file: Path) -> None:
    folder = tmp_path / "links"
    folder.mkdir()
    (folder / "first").symlink_to("second")
    (folder / "second").symlink_to(file)
    write(folder / "first", NEW)
    assert file.read_bytes() == NEW
    assert (folder / "first").is_symlink()
    assert (folder / "second").is_symlink()
    assert len(list(folder.iterdir())) == 2


def test_a_dangling_link_gets_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    assert not replaces(tmp_path / "link")
    write(tmp_path / "link", NEW)
    assert (tmp_path / "target").read_bytes() == NEW
    assert (tmp_path / "link").is_symlink()


def test_a_link_to_itself_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(UnwritableError, match="symbolic links"):
        write(tmp_path / "link", NEW)


def test_a_fifo_is_written_directly(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(fifo.read_bytes()))
    reader.start()
    assert not replaces(fifo)
    write(fifo, NEW)
    reader.join()
    assert found == [NEW]
    assert fifo.is_fifo()
    assert alone(fifo)


def test_devices_are_written_directly() -> None:
    write(Path("/dev/null"), NEW)
    with pytest.raises(UnwritableError, match="No space left"):
        write(Path("/dev/full"), NEW)
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "/proc/thread-self/fd/{}"])
def test_a_descriptor_is_written_at_its_position(file: Path, name: str) -> None:
    with file.open("r+b") as opened:
        opened.seek(4)
        opened.flush()
        at = Path(name.format(opened.fileno()))
        assert not replaces(at)
        inode = file.stat().st_ino
        write(at, b"CON")
        write(at, b"TENT")
    assert file.read_bytes() == b"old CONTENT\n"
    assert file.stat().st_ino == inode
    assert alone(file)


def test_a_socket_that_is_open_is_written(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        write(Path(f"/dev/fd/{ours.fileno()}"), b"data")
        assert theirs.recv(10) == b"data"
    with socket.socket(socket.AF_UNIX) as named:
        named.bind(str(tmp_path / "socket"))
        with pytest.raises(UnwritableError, match="No such device or address"):
            write(tmp_path / "socket", NEW)


def test_a_pipe_that_nobody_reads_is_no_error_of_the_file() -> None:
    reads, writes = os.pipe()
    os.close(reads)
    try:
        with pytest.raises(BrokenPipeError):
            write(Path(f"/dev/fd/{writes}"), NEW)
    finally:
        os.close(writes)


def test_a_folder_that_cant_be_written_is_named_with_the_remedy(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write everywhere: the kernel's answer is given in its place."""

    def refused(path: object, *_: object) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(UnwritableError) as raised:
        write(file, NEW)
    assert f"the folder {file.parent}, which can't be written: Permission denied" in str(
        raised.value
    )
    assert raised.value.hint == "name a file in a folder that you may write to"
    assert file.read_bytes() == OLD


def test_a_folder_or_file_without_permission_is_refused_beforehand(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(file)
    closed = {file.parent}
    monkeypatch.setattr(os, "access", lambda path, *_, **__: path not in closed)
    with pytest.raises(UnwritableError, match="which can't be written: Permission denied"):
        check(file)
    closed = {file}
    for does in (check, lambda path: write(path, NEW)):
        with pytest.raises(UnwritableError, match=r"^Permission denied$"):
            does(file)
    assert file.read_bytes() == OLD


def test_a_folder_and_a_missing_one_are_refused(tmp_path: Path) -> None:
    for does in (check, lambda path: write(path, NEW)):
        with pytest.raises(UnwritableError, match="Is a directory"):
            does(tmp_path)
    with pytest.raises(UnwritableError, match=f"there is no folder {tmp_path}/missing") as raised:
        check(tmp_path / "missing" / "x")
    assert raised.value.hint == "create it first"


def test_a_name_as_long_as_names_may_be_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127 + "x")  # 255 bytes
    write(path, OLD)
    write(path, NEW)
    assert path.read_bytes() == NEW
    assert alone(path)


MOUNTED = """
import sys
from pathlib import Path
from auditrules.library.files import put
put(Path(sys.argv[1]), b"new")
"""


def test_a_mount_point_is_named_as_what_it_is(tmp_path: Path) -> None:
    """As a container has a single file of its host."""
    for name in ("host", "mounted"):
        (tmp_path / name).write_bytes(OLD)
    script = 'mount --bind "$1" "$2" && exec "$3" -c "$4" "$2"'
    words = [str(tmp_path / "host"), str(tmp_path / "mounted"), sys.executable, MOUNTED]
    ended = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", *words],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare failed" in ended.stderr or "mount: " in ended.stderr:
        pytest.skip("this kernel lets only root mount a file")
    assert "it is a mount point, which no new file can replace" in ended.stderr
    assert (tmp_path / "host").read_bytes() == OLD
    assert sorted(one.name for one in tmp_path.iterdir()) == ["host", "mounted"]


@pytest.mark.parametrize("name", ["abc", "99999999999999999999", " 1", "1_0", "01", "997"])
def test_what_is_no_open_descriptor_can_not_be_written(name: str) -> None:
    path = Path("/dev/fd", name)
    for act in (check, replaces, lambda path: write(path, b"x")):
        with pytest.raises(UnwritableError, match="No such file"):
            act(path)


def test_a_name_that_can_not_be_reached_is_not_said_to_exist(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnwritableError, match="Not a directory"):
        replaces(tmp_path / "file" / "x")
