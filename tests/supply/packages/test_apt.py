"""What apt says that it offers is read by the exact name."""

from __future__ import annotations

from hardcost.supply.packages.apt import candidates, offered_versions

# As apt 3.0 answers to `apt-cache policy linux-source-6.1` where no package has that name.
PATTERN = """\
linux-source-6.12:
  Installed: (none)
  Candidate: 6.12.117-1
  Version table:
     6.12.117-1 500
        500 http://mirror.example/debian-security trixie-security/main amd64 Packages
"""
VIRTUAL = """\
libauparse0:
  Installed: (none)
  Candidate: (none)
  Version table:
"""


def test_what_fits_a_name_as_a_pattern_is_not_that_package() -> None:
    assert candidates(PATTERN) == {"linux-source-6.12"}


def test_a_package_that_others_only_provide_is_not_offered() -> None:
    assert candidates(VIRTUAL) == frozenset()
    assert candidates(VIRTUAL + PATTERN) == {"linux-source-6.12"}


def test_an_unknown_name_is_not_offered() -> None:
    assert candidates("") == frozenset()


# As apt 2.6 answers to `apt-cache madison seabios libc6 none`, with a list of Debian's security.
MADISON = """\
   seabios |   1.16.3-2 | http://mirror.example/debian trixie/main amd64 Packages
     libc6 | 2.41-9 | http://mirror.example/debian-security trixie-security/main amd64 Packages
     libc6 | 2.41-12+deb13u5 | http://mirror.example/debian trixie/main amd64 Packages
     libc6 | 2.41-13 | http://mirror.example/debian trixie/main Sources
"""


def test_versions_come_with_the_newest_first_and_each_once() -> None:
    assert offered_versions(MADISON) == {
        "seabios": ("1.16.3-2",),
        "libc6": ("2.41-12+deb13u5", "2.41-9"),
    }
    assert offered_versions("") == {}
