"""XML is read within bounds, packed or not."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from hardcost.errors import InputError
from hardcost.profiles.importers.scap import xml
from hardcost.profiles.importers.scap.datastream import LARGEST
from hardcost.profiles.importers.scap.xml import parse_xml

MEASURED = """
import json, pathlib, resource, sys
from hardcost.errors import InputError
from hardcost.profiles.importers.scap.datastream import LARGEST
from hardcost.profiles.importers.scap.xml import parse_xml
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
before = peak()
try:
    parse_xml(pathlib.Path(sys.argv[1]), LARGEST, "a datastream")
    why = None
except InputError as error:
    why = str(error)
print(json.dumps([why, peak() - before]))
"""


@pytest.mark.parametrize(
    "pack", [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.compress]
)
def test_a_packed_file_is_read_as_the_same_one_unpacked(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    text = "<?xml version='1.0' encoding='utf-16'?>\n<a><!-- x -->\n<b c='d'>é</b></a>"
    (tmp_path / "x").write_bytes(pack(text.encode("utf-16")))
    root = parse_xml(tmp_path / "x", LARGEST, "a datastream")
    assert [(one.tag, dict(one.attrib), one.text, one.sourceline) for one in root] == [
        ("b", {"c": "d"}, "é", 3)
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(b"<a>" + b" " * (300 << 20) + b"</a>"), "larger than 64 MiB, unpacked"),
        (b"<a>" + b"<a/>" * (15 << 20) + b"</a>", "more than 2,000,000 elements"),
        (
            b"<a>" + b"".join(b"<a b%x='' c%x=''/>" % (n, n) for n in range(2 << 20)) + b"</a>",
            "more than 2,000,000 elements",
        ),
        (
            b"<a>" + b"".join(b"<a xmlns:a='%x'/>" % n for n in range(2 << 20)) + b"</a>",
            "more than 2,000,000 elements",
        ),
    ],
    ids=["gzip", "elements", "attributes", "namespaces"],
)
def test_what_would_take_much_memory_is_refused_without_taking_it(
    tmp_path: Path, content: bytes, message: str
) -> None:
    file = tmp_path / "x.xml"
    file.write_bytes(content)
    words = [sys.executable, "-c", MEASURED, str(file)]
    said = subprocess.run(words, check=True, capture_output=True, timeout=300)
    why, grown = json.loads(said.stdout)
    assert message in (why or "")
    assert grown < 640 << 20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is not XML"),
        (b"<a>", "it is not XML"),
        (gzip.compress(b"<a/>", mtime=0)[:-9], "it ends too early"),
        (b"\xfd7zXZ\0rubbish", "nput"),
        (b"<!DOCTYPE a><a/>", "a document type"),
        (b"<a>" * 100_000, "it is not XML"),
    ],
)
def test_what_is_damaged_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "x.xml").write_bytes(content)
    with pytest.raises(InputError, match=message):
        parse_xml(tmp_path / "x.xml", LARGEST, "a datastream")


def test_the_bound_is_of_the_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.xml").write_bytes(b"<a><b c=''/><b d=''/></a>")
    monkeypatch.setattr(xml, "_MOST_ELEMENTS", 5)
    assert parse_xml(tmp_path / "x.xml", LARGEST, "a datastream").tag == "a"
    monkeypatch.setattr(xml, "_MOST_ELEMENTS", 4)
    with pytest.raises(InputError, match="more than 4 elements"):
        parse_xml(tmp_path / "x.xml", LARGEST, "a datastream")
