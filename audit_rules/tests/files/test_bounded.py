"""Files are read within bounds, and nothing that is no file is waited for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from auditrules.files import bounded


def why_not(path: Path, most: int = 100) -> str:
    with pytest.raises(bounded.UnreadableError) as read:
        bounded.content(path, most)
    with pytest.raises(bounded.UnreadableError) as checked:
        bounded.check(path, most)
    assert str(read.value) == str(checked.value)
    return str(read.value)


def test_a_file_up_to_its_bound_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert bounded.content(file, 100) == b"x" * 100
    bounded.check(file, 100)


def test_what_is_no_regular_file_says_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        assert why_not(tmp_path) == "it is a folder, not a file"
        assert why_not(tmp_path / "pipe") == "it is a pipe, not a regular file"
        assert why_not(Path("/dev/zero")) == "it is a device, not a regular file"
        assert why_not(tmp_path / "none") == "there is no such file"
        assert why_not(Path("a\0b")) == "its name holds a null byte"
        with pytest.raises(bounded.UnreadableError):
            bounded.content(tmp_path / "socket", 100)


def test_a_file_beyond_its_bound_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "large"
    with file.open("wb") as made:
        made.truncate(1 << 40)  # all of it a hole
    assert why_not(file, 1 << 20) == "it is larger than 1 MiB"


def test_a_file_that_tells_no_size_is_bounded_too() -> None:
    with pytest.raises(bounded.UnreadableError, match="larger than 0 KiB"):
        bounded.content(Path("/proc/self/status"), 100)
