"""Addresses of a Dask scheduler as users write them, and the certificates beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.measure.workers.lab import lab_at, listening_address

ALL = (Path("ca"), Path("cert"), Path("key"))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("tls://lab1.example:1", "tls://lab1.example:1"),
        ("lab1", "tls://lab1:8786"),
        ("10.0.0.1:9000", "tls://10.0.0.1:9000"),
        ("tls://[fe80::1]:9000", "tls://[fe80::1]:9000"),
        ("tcp://127.0.0.1", "tcp://127.0.0.1:8786"),
        ("tcp://127.9.9.9", "tcp://127.9.9.9:8786"),
        ("tcp://[::1]:9000", "tcp://[::1]:9000"),
        ("tcp://localhost", "tcp://localhost:8786"),
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


@pytest.mark.parametrize(
    "host",
    ["lab1", "10.0.0.1", "0.0.0.0", "[::]", "[fe80::1]", "127.1", "localhost.example"],  # noqa: S104
)
def test_without_tls_what_others_reach_is_refused_unless_that_is_meant(host: str) -> None:
    with pytest.raises(InputError, match="without TLS, whoever reaches it can run") as raised:
        lab_at(f"tcp://{host}")
    assert "--insecure" in (raised.value.problems[0].hint or "")
    meant = lab_at(f"tcp://{host}", insecure=True)
    assert meant.address == f"tcp://{host}:8786"
    assert meant.risk is not None
    assert "whoever reaches it can run programs as you" in meant.risk
    assert lab_at(host, insecure=True) == meant
    local = lab_at("tcp://127.0.0.1")
    with pytest.raises(InputError, match=r"--listen .*: without TLS"):
        listening_address(local, host, insecure=False)
    assert listening_address(local, host, insecure=True) == (host.strip("[]"), 0)


def test_who_can_get_in_is_said_of_tcp_alone() -> None:
    assert lab_at("tls://lab1").risk is None
    said = "tcp://127.0.0.1:8786 has no TLS: every user of this machine can run programs as you"
    assert lab_at("tcp://127.0.0.1").risk == said


def test_where_a_worker_listens_is_read_with_its_port() -> None:
    lab = lab_at("tls://lab1")
    assert listening_address(lab, "192.0.2.7", insecure=False) == ("192.0.2.7", 0)
    assert listening_address(lab, "[2001:db8::7]:9000", insecure=False) == ("2001:db8::7", 9000)
    for written in ("", "a b", "tcp://192.0.2.7", "192.0.2.7:65536", "2001:db8::7"):
        with pytest.raises(InputError, match="is no address of this host"):
            listening_address(lab, written, insecure=False)


def test_certificates_that_would_not_be_used_or_are_not_all_there_are_refused() -> None:
    with pytest.raises(InputError, match="needed together"):
        lab_at("lab1", ALL[0])
    with pytest.raises(InputError, match="certificates are of no use at tcp://lab1"):
        lab_at("tcp://lab1", *ALL)
