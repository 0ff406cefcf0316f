"""SVG that is safe to put into a page: known elements, no scripts, no external references."""

from __future__ import annotations

import re
from math import ceil
from xml.etree import ElementTree as ET

_NAMESPACE = "http://www.w3.org/2000/svg"
_DRAWING = {"svg", "g", "defs", "clipPath", "path", "rect", "line", "circle"}
_WORDS = {"text", "tspan", "title", "desc"}
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_IDS = {"id", "aria-labelledby", "aria-describedby"}
_OUTSIDE = re.compile(r"url\((?!#)|javascript:|data:", re.IGNORECASE)


class UndrawnError(Exception):
    """The library that draws charts has failed."""


def check_svg(svg: str, prefix: str, title: str, words: str) -> tuple[str, int]:
    """Return `svg` as one picture with a title and a description, and its width in pixels.

    `prefix` comes before each id, so that several fit into one page.

    Raises:
        ValueError: it has an element or attribute that our drawings never use.
    """
    root = ET.fromstring(svg)  # noqa: S314 - made by our own process, not read from anywhere
    for element in root.iter():
        name = element.tag.removeprefix(f"{{{_NAMESPACE}}}")
        if name not in _DRAWING | _WORDS:
            raise ValueError(f"a chart holds an element {name!r}")
        for attribute, value in element.attrib.items():
            _refuse_active(attribute, value)
    _hide_nameless(root)
    _explain(root, title, words)
    return _svg_text(root, prefix), ceil(float(root.get("width", "0")))


def rename_ids(svg: str, prefix: str) -> str:
    """Return a checked drawing with `prefix` before each id, for a page with similar drawings."""
    return _svg_text(ET.fromstring(svg), prefix)  # noqa: S314 - checked before


def _svg_text(root: ET.Element, prefix: str) -> str:
    for element in root.iter():
        for attribute, value in element.attrib.items():
            if attribute in _IDS:
                element.set(attribute, f"{prefix}-{value}")
            else:
                element.set(attribute, _REFERENCE.sub(rf"url(#{prefix}-\1)", value))
    ET.register_namespace("", _NAMESPACE)
    return ET.tostring(root, encoding="unicode")


def _explain(root: ET.Element, title: str, words: str) -> None:
    """Make the drawing one picture, with its title and description as its first elements."""
    for name, text in (("desc", words), ("title", title)):
        element = ET.Element(f"{{{_NAMESPACE}}}{name}", {"id": name})
        element.text = text
        root.insert(0, element)
    root.set("role", "img")
    root.set("aria-labelledby", "title")
    root.set("aria-describedby", "desc")


def _hide_nameless(root: ET.Element) -> None:
    """Hide symbols without a name, such as a line at zero: the description has what they show."""
    for element in root.iter():
        if element.get("role") == "graphics-symbol" and not element.get("aria-label"):
            for attribute in ("role", "aria-roledescription"):
                element.attrib.pop(attribute, None)
            element.set("aria-hidden", "true")


def _refuse_active(attribute: str, value: str) -> None:
    """Refuse event handlers and links; the text of a label is free."""
    if attribute.startswith(("on", "{")) or attribute in {"href", "style"}:
        raise ValueError(f"a chart holds an attribute {attribute!r}")
    if not attribute.startswith("aria-") and _OUTSIDE.search(value):
        raise ValueError(f"a chart refers to something outside: {value!r}")
