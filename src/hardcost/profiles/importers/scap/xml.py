"""XML of SCAP content, read as untrusted input.

Entities are not expanded, document types are refused, nothing external is loaded, and libxml2's own
limits of depth and size apply. The bounds of bytes are of what is parsed: a packed file is unpacked
first. An element takes some hundred bytes of memory, however short it is, so they are counted too.
"""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree

from auditrules.files import bounded
from auditrules.model.location import Location
from hardcost import decompress
from hardcost.errors import InputError

XCCDF = "{http://checklists.nist.gov/xccdf/1.2}"
CPE = "{http://cpe.mitre.org/language/2.0}"

_MOST_ELEMENTS = 2_000_000
"""Elements, attributes and namespaces; the longest published datastream has some 320,000."""

_AT_ONCE = 1 << 16


def parse_xml(path: Path, largest: int, what: str) -> etree._Element:
    """Return the root of an XML file of at most `largest` bytes; `what` says what it should be.

    It may be packed by gzip, bzip2, xz or zstd.

    Raises:
        InputError: It is not XML, has a document type or too many elements, or can't be read.
    """
    parser = etree.XMLPullParser(
        events=("start", "start-ns"),
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    place = Location(str(path))
    try:
        content = decompress.unpack_whole(bounded.content(path, largest), largest)
        root = _feed_parser(parser, content)
    except (bounded.UnreadableError, decompress.DamagedError) as error:
        raise InputError(str(error), place=place, hint=f"name {what}") from None
    except etree.XMLSyntaxError as error:
        line = error.lineno or None
        raise InputError(f"it is not XML: {error.msg}", place=Location(str(path), line)) from None
    if root.getroottree().docinfo.internalDTD is not None:
        raise InputError("it has a document type, which SCAP content never has", place=place)
    return root


def _feed_parser(parser: etree.XMLPullParser, content: bytes) -> etree._Element:
    count = 0
    for at in range(0, len(content), _AT_ONCE):
        parser.feed(content[at : at + _AT_ONCE])
        for event, one in parser.read_events():
            count += 1 + (len(one.attrib) if event == "start" else 0)
        if count > _MOST_ELEMENTS:
            raise decompress.DamagedError(
                f"it has more than {_MOST_ELEMENTS:,} elements and attributes"
            )
    return parser.close()


def id_of(element: etree._Element) -> str:
    """Return an element's id."""
    return element.get("id") or ""


def line_of(element: etree._Element) -> int:
    """Return the line on which an element begins, from 1."""
    return element.sourceline or 1


def short(name: str) -> str:
    """Return an id without `xccdf_NAMESPACE_rule_`, and without characters that ids can't have."""
    bare = re.sub(r"^xccdf_[^_]+_(?:rule|profile|group|value)_", "", name)
    return re.sub(r"[^\w.:-]", "_", bare)


def title_of(element: etree._Element) -> str:
    """Return an element's title on one line, or its id."""
    title = element.find(f"{XCCDF}title")
    text = element_text(title) if title is not None else id_of(element)
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


def element_text(element: etree._Element) -> str:
    """Return all text within an element."""
    return "".join(str(part) for part in element.itertext())
