"""Findings as JSON: the same bytes for the same document, keys in the documented order.

All text is ASCII: whatever is not is escaped as JSON escapes it, so that no name can act on a
terminal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import TypeAdapter

from hardcost.model.document import Document
from hardcost.model.finding.change import Gate
from hardcost.show.gate_document import gate_document


def to_json(found: Document | Gate) -> str:
    """Return a finding, a comparison or a gate as JSON without a newline at the end.

    There is a line for each key, and for each element of a list.
    """
    shown = gate_document(found) if isinstance(found, Gate) else found
    return _dump_document(TypeAdapter(type(shown)).dump_python(shown, by_alias=True))


def _dump_document(document: Mapping[str, object]) -> str:
    entries = [f"{_compact(key)}: {_value(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(f"  {entry}" for entry in entries) + "\n}"


def _value(value: object) -> str:
    if not isinstance(value, list | tuple) or not value:
        return _compact(value)
    return "[\n" + ",\n".join(f"    {_compact(element)}" for element in value) + "\n  ]"


def _compact(value: object) -> str:
    return json.dumps(value, allow_nan=False)
