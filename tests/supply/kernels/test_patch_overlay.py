"""What patches make of a source, which stays as it is; and the tree that is compiled of both."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.supply.kernels import patch_overlay, patches
from hardcost.supply.kernels.build_tree import Tree
from hardcost.supply.kernels.patch_overlay import NOTHING, Overlay, PatchedFile
from tests.supply.kernels import linux
from tests.supply.kernels.linux import AUDIT, THREE, added, changed


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return linux.make(tmp_path / "linux")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


def state(folder: Path) -> dict[str, bytes]:
    """Return the content of every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def made(source: Path, *texts: str) -> Overlay:
    """Return what patches make of a source, and check that this stays as it was."""
    before, words = state(source), []
    for number, text in enumerate(texts, 1):
        words.append(str(source.parent / f"{number}.patch"))
        Path(words[-1]).write_text(text)
    try:
        return patch_overlay.overlay_of(patches.read(words), source)
    finally:
        assert state(source) == before


def test_files_are_changed_added_removed_and_renamed(source: Path) -> None:
    (source / "old.c").write_text("old\n")
    (source / "moved.c").write_text("moved\n")
    removed = "--- a/old.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
    renamed = (
        "diff --git a/moved.c b/there/moved.c\nsimilarity index 100%\n"
        "rename from moved.c\nrename to there/moved.c\n"
    )
    found = made(source, THREE, added("new/a.c", "x"), removed, renamed)
    assert found.files == {
        "kernel/audit.c": PatchedFile(AUDIT.replace("three", "THREE").encode()),
        "moved.c": None,
        "new/a.c": PatchedFile(b"x\n"),
        "old.c": None,
        "there/moved.c": PatchedFile(b"moved\n"),
    }
    assert found.added == {"new/a.c", "there/moved.c"}


def test_a_patch_applies_on_top_of_those_before_it(source: Path) -> None:
    again = THREE.replace("-three", "-THREE").replace("+THREE", "+3")
    assert made(source, THREE, again).files["kernel/audit.c"] == PatchedFile(
        AUDIT.replace("three", "3").encode()
    )
    with pytest.raises(InputError, match=r"2\.patch does not apply: kernel/audit\.c, hunk 1"):
        made(source, THREE, THREE)


def test_two_ways_to_the_same_files_are_the_same(source: Path) -> None:
    at_once = made(source, THREE.replace("+THREE", "+3"))
    in_steps = made(source, THREE, THREE.replace("-three", "-THREE").replace("+THREE", "+3"))
    assert at_once.digest == in_steps.digest != made(source, THREE).digest
    back = THREE.replace("-three", "-THREE").replace("+THREE", "+three")
    assert made(source, THREE, back).digest == NOTHING.digest == ""


def test_a_hunk_that_does_not_fit_is_reported_with_its_place(source: Path) -> None:
    two = changed("kernel/audit.c", "one", "ONE") + "@@ -4,2 +4,2 @@\n four\n-fiv\n+FIVE\n"
    with pytest.raises(InputError, match=r"1\.patch does not apply: kernel/audit\.c, hunk 2") as it:
        made(source, two)
    (problem,) = it.value.problems
    assert problem.place is not None
    assert (problem.place.file, problem.place.line) == (str(source.parent / "1.patch"), 6)


@pytest.mark.parametrize(
    "text",
    [
        changed("kernel/missing.c", "a", "b"),
        added("kernel/audit.c", "x"),
        changed("include/linux/audit.h", "a", "b"),
        THREE.replace(" two", " 2"),
    ],
)
def test_what_does_not_fit_is_refused(source: Path, text: str) -> None:
    with pytest.raises(InputError, match="does not apply"):
        made(source, text)


def test_nothing_is_written_through_a_link_or_in_the_place_of_a_folder(source: Path) -> None:
    outside = source.parent / "outside"
    outside.mkdir()
    (outside / "x.c").write_text("a\n")
    (source / "link").symlink_to(outside)
    (source / "link.c").symlink_to(outside / "x.c")
    for name, message in {
        "link/x.c": "link is a symbolic link",
        "link/new.c": "link is a symbolic link",
        "link.c": "link.c is a symbolic link",
        "kernel": "kernel can't be a file",
        "kernel/audit.c/x.c": "can't be a file",
    }.items():
        for text in (changed(name, "a", "b"), added(name, "b")):
            with pytest.raises(InputError, match=message):
                made(source, text)
    assert state(outside) == {"x.c": b"a\n"}


def test_a_program_stays_one_and_a_file_becomes_one(source: Path) -> None:
    (source / "run.sh").write_text("a\n")
    (source / "run.sh").chmod(0o755)
    mode = "diff --git a/kernel/audit.c b/kernel/audit.c\nold mode 100644\nnew mode 100755\n"
    found = made(source, changed("run.sh", "a", "b"), mode)
    assert found.files == {
        "run.sh": PatchedFile(b"b\n", runs=True),
        "kernel/audit.c": PatchedFile(AUDIT.encode(), runs=True),
    }


def test_a_missing_program_is_reported_with_its_package(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(MachineError, match="missing program: patch") as caught:
        made(source, THREE)
    assert caught.value.problems[0].hint == "apt-get install patch"


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        (THREE, True),
        (added("kernel/new.c", "x"), True),
        (added("kernel/new.h", "x"), True),
        (added("kernel/audit.h", "x"), False),
        (added("kernel/Makefile", "x"), True),
        (added("MAINTAINERS", "x"), True),
        (changed("Kconfig", "CONFIG_A=y", "CONFIG_A=n"), False),
        (added("kernel/Kconfig.new", "x"), False),
        (added("scripts/new.c", "x"), False),
        (added("arch/x86/Makefile", "x"), False),
        (added("new.S_shipped", "x"), False),
    ],
)
def test_make_sees_by_itself_what_ordinary_changes_of_code_mean(
    source: Path, text: str, *, is_plain: bool
) -> None:
    assert made(source, text).is_plain(source) is is_plain


def test_a_tree_has_the_sources_own_files_but_for_those_that_differ(
    source: Path, place: Path
) -> None:
    tree, found = Tree(place, source), made(source, THREE, added("new/a.c", "x"))
    assert tree.make()
    assert not tree.make()
    tree.set(found)
    wanted = state(source) | {"new/a.c": b"x\n", "kernel/audit.c": content(found)}
    assert state(tree.folder) == wanted
    assert (tree.folder / "Makefile").samefile(source / "Makefile")
    assert (source / "kernel/audit.c").read_text() == AUDIT


def content(found: Overlay) -> bytes:
    file = found.files["kernel/audit.c"]
    assert file is not None
    return file.content


def test_what_is_put_back_is_newer_than_what_was_compiled_of_the_other(
    source: Path, place: Path
) -> None:
    os.utime(source / "kernel/audit.c", (1, 1))
    tree, found = Tree(place, source), made(source, THREE, added("new/a.c", "x"))
    tree.make()
    tree.set(NOTHING)
    assert (tree.folder / "kernel/audit.c").stat().st_mtime == 1
    tree.set(found)
    (place / "audit.o").touch()
    tree.set(NOTHING)
    assert state(tree.folder) == state(source)
    assert not (tree.folder / "new").exists()
    restored = (tree.folder / "kernel/audit.c").stat()
    assert restored.st_mtime_ns >= (place / "audit.o").stat().st_mtime_ns
    assert (source / "kernel/audit.c").stat().st_mtime == 1
    tree.set(NOTHING)
    assert (tree.folder / "kernel/audit.c").stat().st_mtime_ns == restored.st_mtime_ns


def test_a_file_that_stays_the_same_keeps_its_age(source: Path, place: Path) -> None:
    tree = Tree(place, source)
    tree.make()
    tree.set(made(source, THREE))
    before = (tree.folder / "kernel/audit.c").stat().st_mtime_ns
    tree.set(made(source, THREE, added("new.c", "x")))
    assert (tree.folder / "kernel/audit.c").stat().st_mtime_ns == before


@pytest.mark.parametrize("written", [0, 1, 2])
def test_a_tree_whose_change_was_interrupted_is_put_right(
    source: Path, place: Path, monkeypatch: pytest.MonkeyPatch, written: int
) -> None:
    tree = Tree(place, source)
    tree.make()
    left, write = written, PatchedFile.write

    def interrupted(file: PatchedFile, path: Path) -> None:
        nonlocal left
        if not left:
            raise KeyboardInterrupt
        left -= 1
        write(file, path)

    with monkeypatch.context() as patched:
        patched.setattr(PatchedFile, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tree.set(made(source, added("a.c", "x"), added("b.c", "x"), THREE))
    tree.set(NOTHING)
    assert state(tree.folder) == state(source)
