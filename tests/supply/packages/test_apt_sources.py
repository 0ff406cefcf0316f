"""What of the host's sources is Debian's own, and what is said where there are none."""

from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.supply.packages.apt_sources import debian_sources

DEBIANS = """\
Types: deb deb-src
# a comment
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates bookworm-backports
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/security
Suites: bookworm-security
Components: main
"""


def apt(folder: Path, **files: str) -> Path:
    (folder / "sources.list.d").mkdir()
    for name, text in files.items():
        (folder / "sources.list.d" / name.replace("_", ".")).write_text(text)
    return folder


def test_debians_own_suites_stay_and_only_main(tmp_path: Path) -> None:
    written = debian_sources("bookworm", apt(tmp_path, debian_sources=DEBIANS))
    assert written == (
        "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm bookworm-updates\n"
        "Components: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
        "\n"
        "Types: deb\nURIs: http://mirror.example/security\nSuites: bookworm-security\n"
        "Components: main\n"
    )


def test_lines_of_the_old_form_are_read_too(tmp_path: Path) -> None:
    apt(tmp_path)
    (tmp_path / "sources.list").write_text(
        "# deb http://old.example/debian bookworm main\n"
        "deb [arch=amd64 trusted=yes] http://mirror.example/debian bookworm main contrib # here\n"
        "deb-src http://mirror.example/debian bookworm main\n"
    )
    assert debian_sources("bookworm", tmp_path) == (
        "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\nComponents: main\n"
        "Trusted: yes\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        "deb [signed-by=/usr/share/keyrings/other.gpg] http://other.example/apt bookworm main",
        "deb http://other.example/apt bookworm stable",
        "deb http://other.example/apt cloud-bookworm main",
        "deb http://mirror.example/debian trixie main",
    ],
)
def test_sources_of_others_are_no_debian(line: str, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="no source of Debian's own packages for bookworm"):
        debian_sources("bookworm", apt(tmp_path, other_list=line))


def test_what_is_disabled_does_not_count(tmp_path: Path) -> None:
    text = DEBIANS.replace("Types: deb deb-src", "Enabled: no\nTypes: deb")
    with pytest.raises(MachineError, match="no source"):
        debian_sources("bookworm", apt(tmp_path, debian_sources=text))


def test_a_key_that_is_written_out_stays_whole(tmp_path: Path) -> None:
    key = "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQ==\n"
    text = DEBIANS.partition("\n\n")[0].rpartition("Signed-By")[0] + key
    written = debian_sources("bookworm", apt(tmp_path, debian_sources=text))
    assert written.endswith(key)


def test_another_release_of_debian_comes_from_the_same_places(tmp_path: Path) -> None:
    text = DEBIANS.replace("bookworm", "trixie").replace("mirror.example", "trixie.example")
    written = debian_sources("trixie", apt(tmp_path, debian_sources=text), as_of="bookworm")
    assert "Suites: bookworm bookworm-updates\n" in written
    assert "Suites: bookworm-security\n" in written
    assert "URIs: http://trixie.example/debian\n" in written
    assert "backports" not in written


@pytest.mark.parametrize("codename", ["sid", "trixie-backports"])
def test_what_has_no_updates_of_its_own_is_asked_for_none(tmp_path: Path, codename: str) -> None:
    written = debian_sources("bookworm", apt(tmp_path, debian_sources=DEBIANS), as_of=codename)
    assert [line for line in written.splitlines() if line.startswith("Suites:")] == [
        f"Suites: {codename}"
    ]
