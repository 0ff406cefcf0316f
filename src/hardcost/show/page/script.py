"""A script for a page, and the hash by which the page's policy allows it and no other."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Script:
    """A script's text, and its hash as a Content-Security-Policy names it."""

    text: Markup
    hash: str


def script_of(text: str) -> Script:
    """Return our own `text` as a script."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return Script(Markup(text), f"sha256-{digest}")  # noqa: S704  (it is ours)
