"""What is read as a patch, and what is refused before anything is done with it."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.supply.kernels import patches
from tests.supply.kernels.linux import THREE, added, changed


def read(folder: Path, text: str) -> patches.Patch:
    (folder / "my.patch").write_text(text)
    (found,) = patches.read([str(folder / "my.patch")])
    return found


def test_a_patch_is_read_without_the_mail_around_it(tmp_path: Path) -> None:
    found = read(tmp_path, THREE)
    (change,) = found.changes
    assert (found.name, change.names, change.line, change.hunks) == (
        "my.patch",
        ("kernel/audit.c",),
        10,
        (14,),
    )
    assert found.text.startswith("diff --git a/kernel/audit.c b/kernel/audit.c\n")
    assert found.text.endswith("\n four\n")


def test_a_plain_diff_keeps_its_times_and_loses_its_first_folder(tmp_path: Path) -> None:
    text = changed("kernel/x.c", "a", "b").replace("a/kernel", "linux-6.1.orig/kernel")
    found = read(tmp_path, "diff -u x y\n" + text.replace("x.c\n", "x.c\t2026-01-01 00:00\n"))
    assert found.text == (
        "--- a/kernel/x.c\t2026-01-01 00:00\n+++ b/kernel/x.c\t2026-01-01 00:00\n"
        "@@ -1 +1 @@\n-a\n+b\n"
    )


def test_a_line_without_its_end_is_read(tmp_path: Path) -> None:
    text = changed("a.c", "x", "y") + "\\ No newline at end of file"
    assert read(tmp_path, text).text == text + "\n"


def test_a_folders_patches_come_in_the_order_of_their_names(tmp_path: Path) -> None:
    folder = tmp_path / "fixes"
    folder.mkdir()
    for name in ("0002-b.patch", "0001-a.patch", "0010-c.diff", "0000-cover-letter.patch"):
        (folder / name).write_text(THREE)
    (folder / "0003-empty.patch").write_text("Subject: nothing is changed\n")
    (folder / "README.md").write_text(THREE)
    found = patches.read([str(folder)])
    names = ["fixes/0001-a.patch", "fixes/0002-b.patch", "fixes/0010-c.diff"]
    assert [patch.name for patch in found] == names
    again = patches.read([str(folder), str(folder / "0010-c.diff")])
    assert [patch.name for patch in again] == [*names, "0010-c.diff"]


def test_the_series_that_comes_with_hardcost_is_found_by_its_name() -> None:
    assert patches.series() == ("flat",)
    found = patches.read(["flat"])
    assert len(found) > 1
    assert all(patch.name.startswith("flat/0") for patch in found)
    names = {name for patch in found for change in patch.changes for name in change.names}
    assert {"kernel/auditfilter.c", "kernel/auditsc.c"} <= names


@pytest.mark.parametrize(
    ("version", "folder"),
    [
        ("", "6.1"),
        ("5.10.4", "6.1"),
        ("6.1.192", "6.1"),
        ("7.2.99", "6.1"),
        ("7.3.4", "7.3"),
        ("7.10", "7.3"),
    ],
)
def test_a_series_has_the_patches_for_the_release_of_the_source(version: str, folder: str) -> None:
    found = patches.read(["flat"], version)
    assert {Path(patch.file).parent.name for patch in found} == {folder}
    assert len(found) == len(patches.read(["flat"]))


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("hello\n", None, "no diff"),
        ("", None, "no diff"),
        (changed("../kernel/x.c", "a", "b"), 1, "leaves the kernel's source"),
        (changed("kernel/../../x.c", "a", "b"), 1, "leaves the kernel's source"),
        (changed("kernel//x.c", "a", "b"), 1, "leaves the kernel's source"),
        (changed("kernel/./x.c", "a", "b"), 1, "leaves the kernel's source"),
        (changed("x", "a", "b").replace("a/x", "/etc/passwd"), 1, "leaves the kernel's source"),
        (changed("x", "a", "b").replace("b/x", "/etc/passwd"), 2, "leaves the kernel's source"),
        (changed("x", "a", "b").replace("a/x", "x"), 1, "no leading folder"),
        (changed("x", "a", "b").replace("b/x", "b/y"), 1, "x and y are two files"),
        (changed("kernel/$(id)", "a", "b"), 1, "is not a valid name in a kernel's source"),
        (changed('"kernel/\\056./x"', "a", "b"), 1, "is not a valid name in a kernel's source"),
        (changed("a b", "a", "b"), 1, "is not a valid name in a kernel's source"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", 1, "no file is named"),
        (changed("x", "a", "b").replace("+b", ""), 3, "other lines than its header says"),
        (changed("x", "a", "b") + "+c\n", 3, "more lines than its header says"),
        ("\n" + changed("x", "a", "b").replace(" @@", ",2 @@"), 4, "fewer lines"),
        (changed("x", "a", "b").replace("@@ -1", "@@ x"), 3, "not a hunk of a unified diff"),
        ("*** a/x\n--- b/x\n***************\n*** 1 ****\n! a\n", 1, "context diff"),
        ("diff --git a/x b/x\nnew file mode 120000\n" + added("x", "/etc"), 2, "mode 120000"),
        ("diff --git a/x b/x\nindex 1..2 160000\n" + added("x", "y"), 2, "mode 160000"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 104755\n", 3, "mode 104755"),
        ("diff --git a/x b/x\nGIT binary patch\nliteral 1\n", 2, "a binary file"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", 2, "a binary file"),
        ("diff --git a/x b/y\n" + changed("x", "a", "b"), 1, "x and y are two files"),
        ("diff --git a/x b/x\n" + changed("y", "a", "b"), 2, "y is not the file"),
        ("diff --git a/x b/y c/z\n", 1, "are ambiguous"),
        ("diff --git a/x b/y\nrename from x\nrename to ../y\n", 3, "leaves the kernel's source"),
        ("diff --git a/x b/y\nrename from x\nrename to z\n", 1, "the renaming contradicts"),
        (f"--- a/x\n+++ b/x\n@@ -1,{'9' * 5000} +1 @@\n-a\n", None, "can't be read"),
    ],
)
def test_what_is_no_patch_of_the_source_is_refused_where_it_stands(
    tmp_path: Path, text: str, line: int | None, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path, text)
    (problem,) = caught.value.problems
    if problem.place is not None:
        assert problem.place.file == str(tmp_path / "my.patch")
        assert problem.place.line == line
    else:
        assert "my.patch" in problem.message


def test_what_is_not_there_or_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no patch missing") as caught:
        patches.read(["missing"])
    assert "flat" in (caught.value.problems[0].hint or "")
    with pytest.raises(InputError, match="no patch in the folder"):
        patches.read([str(tmp_path)])
    for word in ("", "a\0b", "/dev/null"):
        with pytest.raises(InputError):
            patches.read([word])


def test_bytes_that_are_no_text_stay_as_they_are(tmp_path: Path) -> None:
    content = changed("x", "a", "b").encode().replace(b"+b", b"+\xff\xe9")
    (tmp_path / "my.patch").write_bytes(content)
    (found,) = patches.read([str(tmp_path / "my.patch")])
    assert found.text.encode("utf-8", "surrogateescape") == content


def test_a_damaged_patch_is_read_or_refused_and_never_names_what_lies_outside(
    tmp_path: Path,
) -> None:
    draw = random.Random(5)  # noqa: S311  (no secret)
    pieces = ["/", "..", "\n", "@@ -1 +1 @@\n", "--- ", "+++ ", "diff --git ", "\t", "-", "+", "\0"]
    for _ in range(300):
        text = THREE + changed("kernel/y.c", "a", "b")
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text))
            text = text[:at] + draw.choice(pieces) + text[at + draw.randint(0, 3) :]
        try:
            found = read(tmp_path, text)
        except InputError:
            continue
        for change in found.changes:
            for name in change.names:
                assert not {"", ".", ".."} & set(Path(name).parts)
                assert not name.startswith("/")


def test_a_patch_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.patch")
    for place, why in ((tmp_path / "x.patch", "it is a pipe"), ("/dev/zero", "it is a device")):
        with pytest.raises(InputError, match=why):
            patches.read([str(place)])
