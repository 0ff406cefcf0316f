"""What apt says that it offers is read by the exact name."""

from __future__ import annotations

from hardcost.supply.packages.apt import candidates

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
