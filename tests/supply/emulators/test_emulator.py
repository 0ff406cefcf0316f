"""How a QEMU is started, and what of one in a folder is found and decides its identity."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.supply.emulators.emulator import (
    HOST,
    answer,
    content_identity,
    in_folder,
    of_program,
)

SAYS = '#!/bin/sh\necho modules ${QEMU_MODULE_DIR:-none}, "$@"\n'
LOADER = '#!/bin/sh\necho loaded "$@"\n'
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def put(root: Path, path: str, text: str = "") -> Path:
    """Put a program or file below a folder."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    place.chmod(0o755)
    return place


@pytest.fixture
def debian(tmp_path: Path) -> Path:
    """Return a folder laid out as Debian's unpacked packages are."""
    root = tmp_path / "a folder: of mine"
    put(root, "usr/bin/qemu-system-x86_64", SAYS)
    put(root, f"{LIBRARIES}/ld-linux-x86-64.so.2", LOADER)
    put(root, f"{LIBRARIES}/qemu/one.so", "module")
    put(root, "usr/share/qemu/pvh.bin", "firmware")
    put(root, "usr/share/seabios/bios.bin", "bios")
    return root


def test_the_hosts_is_a_name_on_the_path_without_an_identity() -> None:
    assert HOST.words() == ["qemu-system-x86_64"]
    assert not HOST.identity
    assert not HOST.closed_to_others()


def test_unpacked_packages_run_by_their_own_loader_with_all_that_they_hold(debian: Path) -> None:
    found = in_folder(debian)
    assert found.words() == [
        "env",
        f"QEMU_MODULE_DIR={debian}/{LIBRARIES}/qemu",
        f"{debian}/{LIBRARIES}/ld-linux-x86-64.so.2",
        "--library-path",
        f"{debian}/{LIBRARIES}",
        f"{debian}/usr/bin/qemu-system-x86_64",
        *("-L", f"{debian}/usr/share/qemu"),
        *("-L", f"{debian}/usr/share/seabios"),
    ]


def test_it_is_asked_in_its_folder_so_that_no_colon_parts_the_path_of_libraries(
    debian: Path,
) -> None:
    said = answer(in_folder(debian), "--version").split()
    assert said[:3] == ["loaded", "--library-path", LIBRARIES]
    assert said[-1] == "--version"


def test_an_installed_one_runs_with_the_hosts_libraries(tmp_path: Path) -> None:
    program = put(tmp_path, "bin/qemu-system-x86_64", SAYS)
    put(tmp_path, "share/qemu/pvh.bin")
    assert of_program(program) == in_folder(tmp_path)
    assert not of_program(program).loader
    assert answer(of_program(program), "--version") == "modules none, -L ./share/qemu --version\n"


def test_one_that_was_built_has_its_firmware_beside_it(tmp_path: Path) -> None:
    program = put(tmp_path, "build/qemu-system-x86_64", SAYS)
    put(tmp_path, "build/pc-bios/pvh.bin")
    assert of_program(program).firmware == ("pc-bios",)


def test_what_refuses_is_shown_with_its_words(tmp_path: Path) -> None:
    program = put(tmp_path, "qemu-system-x86_64", "#!/bin/sh\necho no such thing >&2\nexit 1\n")
    with pytest.raises(MachineError, match="no such thing"):
        answer(of_program(program), "--version")


def test_a_folder_without_one_is_refused_with_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no qemu-system-x86_64") as raised:
        in_folder(tmp_path)
    assert "usr/bin/qemu-system-x86_64" in str(raised.value.problems[0].hint)


def test_what_a_link_takes_from_elsewhere_is_not_in_a_folder(debian: Path) -> None:
    loader = debian / LIBRARIES / "ld-linux-x86-64.so.2"
    loader.unlink()
    loader.symlink_to("/bin/sh")
    assert not in_folder(debian).loader


@pytest.mark.parametrize(
    "path", ["usr/bin/qemu-system-x86_64", f"{LIBRARIES}/qemu/one.so", "usr/share/qemu/pvh.bin"]
)
def test_its_identity_is_that_of_program_modules_and_firmware(debian: Path, path: str) -> None:
    before = content_identity(in_folder(debian))
    put(debian, "usr/share/doc/qemu/changelog", "text")
    put(debian, f"{LIBRARIES}/libc.so.6", "mended")
    assert content_identity(in_folder(debian)) == before
    put(debian, path, "another")
    assert content_identity(in_folder(debian)) != before


def test_what_only_its_owner_can_read_is_named(debian: Path) -> None:
    found = in_folder(debian)
    for path in (debian, *debian.rglob("*")):
        path.chmod(0o755)
    assert not found.closed_to_others()
    (debian / "usr/share/qemu").chmod(0o700)
    assert found.closed_to_others() == f"{debian}/usr/share/qemu"
