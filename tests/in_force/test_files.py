"""Files of a machine are read, and nothing outside its root."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hardcost.in_force.files import MachineFiles

OUTSIDE = "outside\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "outside").write_text(OUTSIDE)
    top = tmp_path / "root"
    (top / "etc").mkdir(parents=True)
    (top / "etc" / "own").write_text("own\n")
    return top


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("etc/a", "../../outside"),
        ("etc/a", "../../../../../../{outside}"),
        ("etc/a", "{outside}"),
        ("etc/a", "/../{outside}"),
        ("etc/a", "b"),
        ("etc/a", "a"),
    ],
)
def test_no_link_leads_outside(root: Path, link: str, target: str) -> None:
    outside = root.parent / "outside"
    (root / "etc" / "b").symlink_to("../../outside")
    (root / link).symlink_to(target.format(outside=outside))
    files = MachineFiles(root)
    assert files.text(f"/{link}") is None
    assert not files.exists(f"/{link}")


@pytest.mark.parametrize("target", ["{folder}", "../..", "/..", "{folder}/root/../"])
def test_no_folder_that_is_a_link_leads_outside(root: Path, target: str) -> None:
    (root / "way").symlink_to(target.format(folder=root.parent))
    files = MachineFiles(root)
    assert files.text("/way/outside") is None
    assert "outside" not in files.names("/way")


def test_a_path_with_dots_stays_inside(root: Path) -> None:
    assert MachineFiles(root).text("/../../../outside") is None
    assert MachineFiles(root).text("/etc/../../../etc/./own") == "own\n"


def test_links_are_followed_as_if_the_root_were_the_top(root: Path) -> None:
    (root / "etc" / "absolute").symlink_to("/etc/own")
    (root / "etc" / "relative").symlink_to("../etc/own")
    (root / "lib").symlink_to("etc")
    files = MachineFiles(root)
    for path in ("/etc/absolute", "/etc/relative", "/lib/own", "/lib/absolute"):
        assert files.text(path) == "own\n"
    assert "own" in files.names("/lib/")


def test_only_regular_files_are_read_and_none_waits(root: Path) -> None:
    os.mkfifo(root / "etc" / "fifo")
    files = MachineFiles(root)
    assert files.text("/etc/fifo") is None
    assert files.text("/etc") is None
    assert files.text("/etc/none") is None
    assert files.names("/etc/own") == ()
    assert files.denied == []


def test_a_large_file_is_read_in_part(root: Path) -> None:
    with (root / "etc" / "large").open("wb") as file:
        file.truncate(1 << 30)
    files = MachineFiles(root)
    text = files.text("/etc/large")
    assert text is not None
    assert len(text) == 4 << 20
    assert files.cut == ["/etc/large"]


def test_a_device_s_node_is_not_opened(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening one may start something, such as a watchdog: what it is is known without that."""
    os.mkfifo(root / "etc" / "node")
    flags: list[int] = []
    opened = os.open

    def noting(path: str, flag: int, *words: int, **more: int) -> int:
        flags.append(flag)
        return opened(path, flag, *words, **more)

    monkeypatch.setattr(os, "open", noting)
    assert MachineFiles(root).text("/etc/node") is None
    assert all(flag & os.O_PATH for flag in flags)


def test_endless_ways_end(root: Path) -> None:
    (root / "d").mkdir()
    (root / "long").symlink_to("/" + "d/../" * 800 + "etc/own")
    files = MachineFiles(root)
    for _ in range(1000):
        files.exists("/long")
    assert files.cut == ["/long"]


def test_bytes_that_are_no_text_come_back(root: Path) -> None:
    (root / "etc" / "odd").write_bytes(b"a\xffb\n")
    text = MachineFiles(root).text("/etc/odd")
    assert text is not None
    assert text.encode("utf-8", "surrogateescape") == b"a\xffb\n"


def test_the_running_machine_has_its_kernel_s_files() -> None:
    files = MachineFiles()
    assert files.live
    assert files.text("/proc/sys/kernel/osrelease") == f"{os.uname().release}\n"


def open_descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_is_left_open(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    (root / "way").symlink_to("/etc")
    files = MachineFiles(root)
    before = open_descriptors()
    for path in ("/etc/own", "/loop", "/loop/x", "/way/own", "/none/x", "/etc/own/x", "/"):
        files.text(path)
        files.names(path)
        files.exists(path)
    assert open_descriptors() == before
