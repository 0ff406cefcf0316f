"""Packages are named in the words of the host's own package manager."""

from __future__ import annotations

import pytest

from hardcost.host.install_command import Manager, command, install, manager


@pytest.mark.parametrize(
    ("os_release", "wanted"),
    [
        ({"ID": "debian"}, "apt"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "apt"),
        ({"ID": "fedora"}, "dnf"),
        ({"ID": "rhel", "ID_LIKE": "fedora"}, "dnf of Red Hat"),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "dnf of Red Hat"),
        ({"ID": "opensuse-leap", "ID_LIKE": "suse opensuse"}, "zypper"),
        ({"ID": "manjaro", "ID_LIKE": "arch"}, "pacman"),
        ({"ID": "alpine"}, "apk"),
        ({"ID": "nixos"}, "nix"),
        ({"ID": "unheard-of"}, "apt"),
        ({}, "apt"),
    ],
)
def test_a_system_has_a_package_manager_by_what_it_is_like(
    os_release: dict[str, str], wanted: Manager
) -> None:
    assert manager(os_release) == wanted


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("apt", "apt-get install qemu-system-x86 util-linux"),
        ("dnf", "dnf install qemu-system-x86 util-linux"),
        ("zypper", "zypper install qemu-x86 util-linux"),
        ("pacman", "pacman -S qemu-system-x86 util-linux"),
        ("apk", "apk add qemu-system-x86_64 util-linux"),
        ("nix", "nix-shell -p qemu util-linux"),
    ],
)
def test_each_manager_has_words_and_names_of_its_own(by: Manager, words: str) -> None:
    assert command(by, ("qemu-system-x86", "util-linux")) == words


def test_two_packages_that_are_one_elsewhere_are_named_once() -> None:
    assert command("nix", ("qemu-system-x86", "qemu-utils")) == "nix-shell -p qemu"


def test_what_a_manager_has_not_is_said() -> None:
    assert command("apk", ("mmdebstrap", "git")) == (
        "apk add git; no package of apk is known for mmdebstrap"
    )
    assert command("pacman", ("mmdebstrap",)) == "no package of pacman is known for mmdebstrap"


def test_red_hat_has_fedora_s_names_but_no_qemu_that_emulates() -> None:
    assert command("dnf of Red Hat", ("libelf-dev", "gpgv", "qemu-system-x86")) == (
        "dnf install elfutils-libelf-devel gnupg2; no package of dnf of Red Hat is known for"
        " qemu-system-x86"
    )


def test_here_it_is_apt() -> None:
    assert install("git", "patch") == "apt-get install git patch"
