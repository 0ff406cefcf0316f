"""Addresses of a Dask scheduler as users write them, and the certificates beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.run.workers.lab import lab_at

ALL = (Path("ca"), Path("cert"), Path("key"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("tcp://lab1:8786", "tcp://lab1:8786"),
        ("tls://lab1.example:1", "tls://lab1.example:1"),
        ("lab1", "tcp://lab1:8786"),
        ("10.0.0.1:9000", "tcp://10.0.0.1:9000"),
        ("tcp://[fe80::1]:9000", "tcp://[fe80::1]:9000"),
    ],
)
def test_an_address_is_read_with_the_usual_scheme_and_port(written: str, read: str) -> None:
    assert lab_at(written).address == read


def test_with_certificates_an_address_is_one_of_tls() -> None:
    assert lab_at("lab1", *ALL).address == "tls://lab1:8786"


@pytest.mark.parametrize(
    "written", ["", "http://lab1:80", "lab1:0", "lab1:65536", "lab 1", "tcp://", "lab1:port"]
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(InputError, match="is no address of a Dask scheduler"):
        lab_at(written)


def test_certificates_that_would_not_be_used_or_are_not_all_there_are_refused() -> None:
    with pytest.raises(InputError, match="needed together"):
        lab_at("lab1", ALL[0])
    with pytest.raises(InputError, match="certificates are of no use at tcp://lab1"):
        lab_at("tcp://lab1", *ALL)
