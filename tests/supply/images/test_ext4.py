"""Images of trees: what is put in is there, and the same tree gives the same image."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.images import ext4, ext4_contents, record, selinux_labels
from hardcost.supply.images.root_image import GRAIN, RootImage
from hardcost.supply.images.source_tree import _entries, sample_evenly, tree_image


def looked_up(image: Path, request: str) -> str:
    words = ["debugfs", "-R", request, str(image)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tree = tmp_path / "from"
    (tree / "a" / "deep").mkdir(parents=True)
    (tree / "a" / "deep" / 'odd "name" here').write_text("odd")
    (tree / "a" / "link").symlink_to("deep")
    (tree / "z").write_text("x" * 10_000)
    return tree


def made(tree: Path, image: Path, contexts: Mapping[str, str] | None = None) -> Path:
    files = selinux_labels.add_labels(ext4_contents.entries(tree, ext4.EPOCH), contexts or {})
    ext4.make(image, GRAIN, files)
    return image


def test_a_tree_becomes_a_sound_file_system(folder: Path, tmp_path: Path) -> None:
    image = made(folder, tmp_path / "root.img")
    assert image.stat().st_size == GRAIN
    assert looked_up(image, "cat /z") == "x" * 10_000
    assert looked_up(image, 'cat "/a/deep/odd ""name"" here"') == "odd"
    assert 'Fast link dest: "deep"' in looked_up(image, "stat /a/link")


def test_modes_times_names_and_attributes_are_those_of_the_files(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "z").chmod(0o4711)
    os.utime(folder / "z", (0, 1_000_000_000))
    os.setxattr(folder / "z", "user.note", b"\x00\xff binary")
    (folder / "a" / "twin").hardlink_to(folder / "z")
    os.mkfifo(folder / "a" / "fifo", 0o600)
    image = made(folder, tmp_path / "root.img")
    said = looked_up(image, "stat /a/twin")
    assert "Type: regular    Mode:  04711" in said
    assert "Links: 2" in said
    assert "mtime: 0x3b9aca00" in said
    assert said == looked_up(image, "stat /z")
    assert "user.note (9) = 00 ff 20 62 69" in looked_up(image, "ea_list /z")
    assert "Type: FIFO    Mode:  0600" in looked_up(image, "stat /a/fifo")


def test_nothing_is_newer_than_a_guests_clock(folder: Path, tmp_path: Path) -> None:
    os.utime(folder / "z", (0, ext4.EPOCH + 1000))
    said = looked_up(made(folder, tmp_path / "root.img"), "stat /z")
    for time in ("ctime", "mtime", "crtime", "atime"):
        assert f"{time}: 0x{ext4.EPOCH:x}" in said


def test_labels_are_written_where_they_belong(folder: Path, tmp_path: Path) -> None:
    label = "system_u:object_r:usr_t:s0"
    contexts = {"/": label, "/z": label, '/a/deep/odd "name" here': label}
    image = made(folder, tmp_path / "root.img", contexts)
    for path in ("/", "/z", '"/a/deep/odd ""name"" here"'):
        assert label in looked_up(image, f"ea_list {path}")
    assert looked_up(image, "ea_list /a").strip() == ""


def test_what_debugfs_can_not_do_is_an_error(folder: Path, tmp_path: Path) -> None:
    image = made(folder, tmp_path / "root.img")
    with pytest.raises(MachineError, match="/nowhere: File not found"):
        ext4.change(image, ["sif /nowhere uid 1"], tmp_path / "script")


def test_files_that_do_not_fit_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "large").write_bytes(b"x" * (9 << 20))
    with pytest.raises(MachineError, match="debugfs could not change"):
        ext4.make(
            tmp_path / "root.img",
            8 << 20,
            ext4_contents.entries(tmp_path / "from", 0),
            journal=False,
        )


def test_the_order_in_which_files_came_to_be_has_no_part_in_an_image(tmp_path: Path) -> None:
    digests = set()
    for name, order in (("one", "abc"), ("two", "cab")):
        tree = tmp_path / name
        tree.mkdir()
        for letter in order:
            (tree / letter).mkdir()
            (tree / letter / "file").write_text(letter)
            os.utime(tree / letter / "file", (0, 0))
        digests.add(ext4.content_digest(made(tree, tmp_path / f"{name}.img")))
    assert len(digests) == 1


def test_a_source_tree_belongs_to_a_user_and_holds_no_more_than_was_chosen(
    folder: Path, tmp_path: Path
) -> None:
    image = tmp_path / "root.img"
    chosen = [Path("a/link"), Path("z")]
    ext4.make(image, GRAIN, _entries(folder, chosen), journal=False)
    said = looked_up(image, "stat /a/link")
    assert "User:  1000   Group:  1000" in said
    assert "src_t" in looked_up(image, "ea_list /a")
    assert "deep" not in looked_up(image, "ls /a").replace("link", "")


def test_a_digest_depends_on_content_and_place_and_not_on_holes(tmp_path: Path) -> None:
    def digest(*parts: bytes) -> str:
        path = tmp_path / "file"
        path.write_bytes(b"".join(parts))
        return ext4.content_digest(path)

    block, zeros = b"x" * 4096, bytes(4096)
    assert digest(zeros, block) != digest(block, zeros)
    sparse = tmp_path / "sparse"
    with sparse.open("wb") as file:
        file.truncate(3 * 4096)
        file.seek(4096)
        file.write(block)
    assert ext4.content_digest(sparse) == digest(zeros, block, zeros)


def test_a_part_is_spread_over_the_whole() -> None:
    every = [Path(str(number)) for number in range(10)]
    assert sample_evenly(every, 5) == [Path(name) for name in "02468"]
    assert sample_evenly(every, 20) == every


def test_a_tree_of_no_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 1"):
        tree_image(Cache(tmp_path), 0)


def test_what_is_kept_of_an_image_is_what_it_was(tmp_path: Path) -> None:
    image = RootImage(tmp_path / "root.img", "abc", "a title", GRAIN, {"fio": "3.33"})
    record.keep(tmp_path, image)
    assert record.load_image(tmp_path) == image


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"path": "root.img", "what": 1}'])
def test_an_image_without_its_record_is_an_error_with_a_remedy(text: str, tmp_path: Path) -> None:
    (tmp_path / "image.json").write_text(text)
    with pytest.raises(MachineError, match="can't be read") as raised:
        record.load_image(tmp_path)
    assert "image remove" in str(raised.value.problems[0].hint)
