"""Images of trees: what is put in is there, and the same tree gives the same image."""

import subprocess
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.machines.cache import Cache
from hardcost.machines.images import ext4, kept, labels
from hardcost.machines.images.image import GRAIN, RootImage
from hardcost.machines.images.tree import _commands, spread, tree_image


def looked_up(image: Path, request: str) -> str:
    words = ["debugfs", "-R", request, str(image)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def checked(image: Path) -> None:
    subprocess.run(["e2fsck", "-f", "-n", str(image)], check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tree = tmp_path / "from"
    (tree / "a" / "deep").mkdir(parents=True)
    (tree / "a" / "deep" / 'odd "name" here').write_text("odd")
    (tree / "a" / "link").symlink_to("deep")
    (tree / "z").write_text("x" * 10_000)
    return tree


def test_a_tree_becomes_a_sound_file_system(folder: Path, tmp_path: Path) -> None:
    image = tmp_path / "root.img"
    ext4.make(image, GRAIN, tree=folder)
    checked(image)
    assert image.stat().st_size == GRAIN
    assert looked_up(image, "cat /z") == "x" * 10_000


def test_labels_are_written_where_they_belong(folder: Path, tmp_path: Path) -> None:
    image, label = tmp_path / "root.img", "system_u:object_r:usr_t:s0"
    ext4.make(image, GRAIN, tree=folder)
    labels.write(image, {"/z": label, '/a/deep/odd "name" here': label}, tmp_path / "script")
    checked(image)
    assert label in looked_up(image, "ea_list /z")
    assert label in looked_up(image, 'ea_list "/a/deep/odd ""name"" here"')
    assert looked_up(image, "ea_list /a").strip() == ""


def test_what_debugfs_can_not_do_is_an_error(folder: Path, tmp_path: Path) -> None:
    image = tmp_path / "root.img"
    ext4.make(image, GRAIN, tree=folder)
    with pytest.raises(MachineError, match="/nowhere: File not found"):
        labels.write(image, {"/nowhere": "x"}, tmp_path / "script")


def test_a_tree_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    (tmp_path / "from" / "large").write_bytes(b"x" * (9 << 20))
    with pytest.raises(MachineError, match="mke2fs"):
        ext4.make(tmp_path / "root.img", 8 << 20, tree=tmp_path / "from", journal=False)


def test_files_put_in_by_name_always_give_the_same_image(folder: Path, tmp_path: Path) -> None:
    chosen = [Path('a/deep/odd "name" here'), Path("a/link"), Path("z")]
    digests = set()
    for name in ("one.img", "two.img"):
        image = tmp_path / name
        ext4.make(image, GRAIN, journal=False)
        ext4.change(image, _commands(folder, chosen), tmp_path / "script")
        checked(image)
        digests.add(ext4.content_digest(image))
    assert len(digests) == 1
    assert looked_up(tmp_path / "one.img", 'cat "/a/deep/odd ""name"" here"') == "odd"
    said = looked_up(tmp_path / "one.img", "stat /a/link")
    assert "User:  1000   Group:  1000" in said
    assert 'Fast link dest: "deep"' in said


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
    assert spread(every, 5) == [Path(name) for name in "02468"]
    assert spread(every, 20) == every


def test_a_tree_of_no_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="1 at least"):
        tree_image(Cache(tmp_path), 0)


def test_what_is_kept_of_an_image_is_what_it_was(tmp_path: Path) -> None:
    image = RootImage(tmp_path / "root.img", "abc", "a title", GRAIN, {"fio": "3.33"})
    kept.keep(tmp_path, image)
    assert kept.kept(tmp_path) == image


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"path": "root.img", "what": 1}'])
def test_an_image_without_its_record_is_an_error_with_a_remedy(text: str, tmp_path: Path) -> None:
    (tmp_path / "image.json").write_text(text)
    with pytest.raises(MachineError, match="can't be read") as raised:
        kept.kept(tmp_path)
    assert "image remove" in str(raised.value.problems[0].hint)
