"""The journal of changes: what was written before a crash is read, what was edited is refused."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardcost.errors import MachineError
from hardcost.machines.real.journal import (
    MOST_BYTES,
    Begin,
    Entry,
    Journal,
    JournalChange,
    LeftEntry,
    MadeEntry,
    Making,
    Undone,
    read,
)

BEGIN = Begin(machine="m", boot="b", run="r")
_CHANGES = st.lists(
    st.builds(
        lambda name, before, mode: JournalChange(kind="file", name=name, before=before, mode=mode),
        st.text(min_size=1, max_size=20),
        st.binary() | st.none(),
        st.integers(0, 0o7777) | st.none(),
    ),
    max_size=5,
)


def change(name: str = "/etc/x", before: bytes | None = b"old\n\x00") -> JournalChange:
    return JournalChange(kind="file", name=name, before=before)


def written(entries: Iterable[Entry]) -> bytes:
    content = b""
    for entry in entries:
        content += read(content, "j").line(entry)
    return content


@given(_CHANGES)
def test_what_is_written_is_read(changes: list[JournalChange]) -> None:
    journal = read(written([BEGIN, *changes]), "j")
    assert journal.entries == (BEGIN, *changes)
    assert [one for _, one in journal.pending] == changes[::-1]
    assert not journal.torn


def test_bytes_stay_what_they_were_and_absence_is_no_empty_file() -> None:
    journal = read(written([BEGIN, change(), change("/etc/new", None), change("/e", b"")]), "j")
    assert [one.before for one in journal.changes] == [b"old\n\x00", None, b""]


def test_what_is_undone_is_not_pending_and_the_newest_comes_first() -> None:
    journal = read(written([BEGIN, change("a"), change("b"), change("c"), Undone(number=2)]), "j")
    assert [(at, one.name) for at, one in journal.pending] == [(1, "b"), (0, "a")]
    with pytest.raises(ValueError, match="change 2 is undone, which is not pending"):
        journal.line(Undone(number=2))


def test_what_was_begun_and_made_and_left_is_pending_until_it_is_undone() -> None:
    begun = (Making(number=0), MadeEntry(number=0, after=b"new\n", mode=0o640), LeftEntry(number=0))
    journal = read(written([BEGIN, change(), *begun]), "j")
    assert journal.entries[2:] == begun
    assert [at for at, _ in journal.pending] == [0]
    with pytest.raises(ValueError, match="change 1 is left, which is not pending"):
        journal.line(LeftEntry(number=1))


def test_a_journal_of_the_first_version_is_read() -> None:
    first = Begin(version=1, machine="m", boot="b", run="r")
    assert read(written([first, change()]), "j").entries[0] == first


@given(st.integers(0, 10_000))
def test_a_line_that_was_cut_off_is_left_out_and_the_rest_holds(cut: int) -> None:
    before = written([BEGIN, change("a")])
    whole = written([BEGIN, change("a"), change("b")])
    end = len(before) + cut % (len(whole) - len(before))
    journal = read(whole[:end], "j")
    assert journal.entries == (BEGIN, change("a"))
    assert journal.torn == (end > len(before))
    assert journal.size == len(before)
    assert whole[: journal.size] + journal.line(change("b")) == whole


@given(st.integers(0, 10_000), st.integers(1, 255))
def test_an_edited_journal_is_refused(at: int, by: int) -> None:
    content = bytearray(written([BEGIN, change("a"), change("b"), Undone(number=1)]))
    at %= len(content) - 1
    content[at] ^= by
    with pytest.raises(MachineError) as raised:
        read(bytes(content), "j")
    assert raised.value.problems[0].place is not None


def test_a_line_that_is_taken_out_is_noticed() -> None:
    first, _, last = written([BEGIN, change("a"), change("b")]).splitlines(keepends=True)
    with pytest.raises(MachineError, match="was changed, or a line before it"):
        read(first + last, "j")


@given(st.binary())
def test_no_content_is_too_strange(content: bytes) -> None:
    try:
        journal = read(content, "j")
    except MachineError:
        return
    assert journal == Journal(torn=bool(content))


def test_a_journal_that_is_too_large_is_not_read() -> None:
    with pytest.raises(MachineError, match="larger than 64 MiB"):
        read(b"x" * (MOST_BYTES + 1), "j")
