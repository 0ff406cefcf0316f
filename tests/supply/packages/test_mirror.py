"""Packages straight from an archive: what is signed is used, and nothing else.

`mirror/` is a small archive whose lists a key of the tests signed; it is served as a mirror is.
"""

from __future__ import annotations

import functools
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import hardcost.supply.packages.mirror
from hardcost.errors import MachineError
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.mirror import DebianArchive
from tests.supply.packages.signing_key import KEY

SUITE, PAST = "test-backports", "past-backports"
RELEASE = f"dists/{SUITE}/InRelease"
LIST = f"dists/{SUITE}/main/binary-amd64/Packages.xz"
PACKAGE = "pool/tiny_1_amd64.deb"
OURS = Path(__file__).parent / "mirror"
DEBIANS_KEYS = hardcost.supply.packages.mirror.own_keys()


class Quiet(SimpleHTTPRequestHandler):
    """A mirror that does not say what it was asked for."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the library's name)
        """Print nothing."""


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Serve a copy of the small archive, and return its folder."""
    folder = Path(shutil.copytree(OURS, tmp_path / "mirror"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("HARDCOST_DEBIAN_MIRROR", f"http://127.0.0.1:{server.server_port}/")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(hardcost.supply.packages.mirror, "own_keys", lambda: (KEY,))
    yield folder
    server.shutdown()
    server.server_close()


def archive(folder: Path, codename: str = SUITE) -> DebianArchive:
    return DebianArchive(Cache(folder / "cache"), codename)


def test_a_signed_package_is_found_and_fetched_in_its_newest_version(
    mirror: Path, tmp_path: Path
) -> None:
    known = archive(tmp_path)
    assert known.first_offered(("none", "tiny")) == "tiny"
    assert known.matching_packages("^ti") == ("tiny",)
    assert known.depends("tiny") == ("libtiny", "other")
    file = known.download("tiny", tmp_path)
    assert file.read_bytes() == (mirror / PACKAGE).read_bytes()


def test_packages_are_fetched_in_the_versions_that_are_named_and_no_others(
    mirror: Path, tmp_path: Path
) -> None:
    known = archive(tmp_path)
    assert known.versions(("tiny",)) == {}
    known.refresh()
    assert known.versions(("tiny", "none")) == {"tiny": ("1",)}
    known.download_all({"tiny": "1"}, tmp_path)
    assert (tmp_path / "tiny_1.deb").read_bytes() == (mirror / PACKAGE).read_bytes()
    with pytest.raises(MachineError, match="has no tiny 2"):
        known.download_all({"tiny": "2"}, tmp_path)
    with pytest.raises(MachineError, match="has no none 1"):
        known.download_all({"none": "1"}, tmp_path)


def test_lists_are_fetched_once(mirror: Path, tmp_path: Path) -> None:
    archive(tmp_path).first_offered(("tiny",))
    (mirror / RELEASE).unlink()
    assert archive(tmp_path).first_offered(("tiny",)) == "tiny"
    with pytest.raises(MachineError, match="can't be fetched"):
        archive(tmp_path).first_offered(("other",))


def test_a_list_in_the_cache_that_is_damaged_is_fetched_again(mirror: Path, tmp_path: Path) -> None:
    assert (mirror / RELEASE).is_file()
    archive(tmp_path).first_offered(("tiny",))
    for damaged in ("", "[]", '{"tiny": [1]}'):
        (tmp_path / "cache" / f"archive-{SUITE}-amd64" / "packages.json").write_text(damaged)
        assert archive(tmp_path).first_offered(("tiny",)) == "tiny"


def test_a_package_that_the_release_lacks_is_named(mirror: Path, tmp_path: Path) -> None:
    assert mirror.is_dir()
    with pytest.raises(MachineError, match="no package a or b in Debian's test-backports"):
        archive(tmp_path).first_offered(("a", "b"))


def test_a_release_that_was_changed_is_refused(mirror: Path, tmp_path: Path) -> None:
    text = (mirror / RELEASE).read_bytes()
    (mirror / RELEASE).write_bytes(text.replace(b"Origin: Test", b"Origin: Tess"))
    with pytest.raises(MachineError, match="is not Debian's: a signature of it is wrong"):
        archive(tmp_path).first_offered(("tiny",))


def test_a_release_that_nobody_signed_is_refused(mirror: Path, tmp_path: Path) -> None:
    (mirror / RELEASE).write_text(f"Codename: {SUITE}\n")
    with pytest.raises(MachineError, match="is not Debian's: no key that is known signed it"):
        archive(tmp_path).first_offered(("tiny",))


def test_a_release_that_others_signed_is_refused(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mirror.is_dir()
    monkeypatch.setattr(hardcost.supply.packages.mirror, "own_keys", lambda: DEBIANS_KEYS)
    with pytest.raises(MachineError, match="is not Debian's: no key that is known signed it"):
        archive(tmp_path).first_offered(("tiny",))


def test_what_stands_around_the_signed_text_counts_for_nothing(
    mirror: Path, tmp_path: Path
) -> None:
    text = (mirror / RELEASE).read_bytes()
    more = b"SHA256:\n " + b"0" * 64 + b" 1 main/binary-amd64/Packages.xz\n"
    (mirror / RELEASE).write_bytes(more + text + more)
    assert archive(tmp_path).first_offered(("tiny",)) == "tiny"


def test_another_suite_s_release_is_refused(mirror: Path, tmp_path: Path) -> None:
    shutil.copy(mirror / f"dists/{PAST}/InRelease", mirror / RELEASE)
    with pytest.raises(MachineError, match="is signed, but for past-backports"):
        archive(tmp_path).first_offered(("tiny",))


def test_a_release_that_is_no_longer_valid_is_refused_unless_a_past_day_is_wanted(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mirror.is_dir()
    with pytest.raises(MachineError, match="was valid until Wed, 01 Jan 2020"):
        archive(tmp_path, PAST).first_offered(("tiny",))
    monkeypatch.setenv(hardcost.supply.packages.mirror.PAST, "1")
    assert archive(tmp_path, PAST).first_offered(("tiny",)) == "tiny"


@pytest.mark.parametrize("changed", [b"", b"\0" * 248], ids=["shorter", "other bytes"])
def test_a_list_that_is_not_the_signed_one_is_refused(
    mirror: Path, tmp_path: Path, changed: bytes
) -> None:
    (mirror / LIST).write_bytes(changed)
    with pytest.raises(MachineError, match="that is not the one Debian signed"):
        archive(tmp_path).first_offered(("tiny",))


@pytest.mark.parametrize("end", [0, 559], ids=["empty", "truncated"])
def test_a_package_that_is_not_the_listed_one_is_refused(
    mirror: Path, tmp_path: Path, end: int
) -> None:
    whole = (mirror / PACKAGE).read_bytes()
    (mirror / PACKAGE).write_bytes(whole[:end])
    known = archive(tmp_path)
    known.first_offered(("tiny",))
    with pytest.raises(MachineError, match="is not the package that Debian's list names"):
        known.download("tiny", tmp_path)
    (mirror / PACKAGE).write_bytes(whole + b"\0")
    with pytest.raises(MachineError, match="has more than the 560 bytes it should have"):
        known.download("tiny", tmp_path)
    assert not list(tmp_path.glob("*.deb"))


def test_a_mirror_that_does_not_answer_is_named(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mirror.is_dir()
    monkeypatch.setenv("HARDCOST_DEBIAN_MIRROR", "http://127.0.0.1:1")
    with pytest.raises(MachineError, match="can't be fetched") as raised:
        archive(tmp_path).first_offered(("tiny",))
    assert "HARDCOST_DEBIAN_MIRROR" in (raised.value.problems[0].hint or "")
    monkeypatch.setenv("HARDCOST_DEBIAN_MIRROR", "file:///etc")
    with pytest.raises(MachineError, match="is no address of a mirror"):
        archive(tmp_path).first_offered(("tiny",))


def test_a_release_of_debian_s_is_three_suites_and_backports_and_unstable_are_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mirror = "http://127.0.0.1:1/debian"
    monkeypatch.setenv("HARDCOST_DEBIAN_MIRROR", f"{mirror}/")
    assert list(hardcost.supply.packages.mirror._suites("trixie")) == [
        (mirror, "trixie"),
        (mirror, "trixie-updates"),
        (f"{mirror}-security", "trixie-security"),
    ]
    for alone in ("trixie-backports", "sid"):
        assert list(hardcost.supply.packages.mirror._suites(alone)) == [(mirror, alone)]


def test_without_a_mirror_the_variable_that_names_one_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HARDCOST_DEBIAN_MIRROR", raising=False)
    with pytest.raises(MachineError, match="no mirror of Debian's archive is named") as raised:
        archive(tmp_path).first_offered(("tiny",))
    assert "HARDCOST_DEBIAN_MIRROR" in (raised.value.problems[0].hint or "")
