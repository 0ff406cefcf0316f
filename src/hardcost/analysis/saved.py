"""A finding as text for the store, and back."""

from __future__ import annotations

import json

from pydantic import TypeAdapter, ValidationError

from hardcost.analysis.finding import Finding
from hardcost.errors import StoreError
from hardcost.files import json_value

_ADAPTER = TypeAdapter(Finding)


def packed(finding: Finding) -> str:
    """Return a finding as text for the store."""
    return json.dumps(_ADAPTER.dump_python(finding))


def unpacked(text: str) -> Finding:
    """Return the finding that `packed` made `text` of.

    Raises:
        StoreError: It is damaged.
    """
    try:
        return _ADAPTER.validate_python(json_value(text))
    except (ValueError, ValidationError) as error:
        raise StoreError("the run's finding in the store can't be read") from error
