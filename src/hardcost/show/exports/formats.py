"""The formats of findings, beside text and JSON: a line for each, with its file.

Whoever adds a format adds its line here. Help reads this and imports nothing else.
"""

from __future__ import annotations

RESULTS = {
    "csv": "rows_text",
    "parquet": "parquet",
    "markdown": "rows_text",
}
"""Of rows of results."""

CALLS = {
    "folded": "folded",
    "folded-diff": "folded",
    "speedscope": "speedscope",
    "pprof": "pprof",
}
"""Of the calls of functions."""

TRACES = {
    "perfetto": "perfetto",
}
"""Of traces."""

GATES = {
    "junit": "junit",
    "sarif": "gate_sarif",
    "github": "annotations",
    "gitlab": "annotations",
    "markdown": "gate_markdown",
}
"""Of the answer of a gate."""
