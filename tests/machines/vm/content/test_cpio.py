"""The kernel must be able to read what we write: checked with the format's own rules."""

import stat

from hypothesis import given
from hypothesis import strategies as st

from hardcost.machines.vm.content import cpio


def entries(archive: bytes) -> list[tuple[str, int, bytes]]:
    """Read an archive back: (path, mode, content), by the kernel's description of the format."""
    found, at = [], 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        name_size, size = fields[11], fields[6]
        name = archive[at + 110 : at + 110 + name_size - 1].decode()
        start = -(-(at + 110 + name_size) // 4) * 4
        found.append((name, fields[1], archive[start : start + size]))
        at = -(-(start + size) // 4) * 4
        if name == "TRAILER!!!":
            assert at == len(archive)
            return found


def test_every_folder_stands_before_what_it_holds() -> None:
    names = [name for name, _, _ in entries(cpio.archive([cpio.regular("a/b/c", b"x")]))]
    assert names == ["a", "a/b", "a/b/c", "TRAILER!!!"]


def test_a_link_holds_its_target() -> None:
    name, mode, content = entries(cpio.archive([cpio.link("noop", "/init")]))[0]
    assert (name, content) == ("noop", b"/init")
    assert stat.S_ISLNK(mode)


@given(st.dictionaries(st.from_regex(r"\A[a-z]{1,9}\Z"), st.binary(max_size=99), max_size=9))
def test_what_goes_in_comes_out(files: dict[str, bytes]) -> None:
    archive = cpio.archive([cpio.regular(name, content) for name, content in files.items()])
    read = {name: content for name, _, content in entries(archive)[:-1]}
    assert read == files


def test_the_order_of_files_changes_nothing() -> None:
    one, two = cpio.regular("one", b"1"), cpio.regular("two", b"2")
    assert cpio.archive([one, two]) == cpio.archive([two, one])
