from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given

from hardcost.errors import MachineError
from hardcost.show.exports.parquet import parquet
from hardcost.show.exports.rows import MEANINGS, rows
from hardcost.show.exports.rows_text import COLUMNS
from tests.show.exports.findings import finding
from tests.show.exports.gates import ANY_TEXT, HOSTILE


def read(data: bytes) -> Any:  # noqa: ANN401  (pyarrow brings no types)
    return import_module("pyarrow.parquet").read_table(io.BytesIO(data))


@ANY_TEXT
@given(text=HOSTILE)
def test_any_text_comes_out_as_it_went_in(text: str) -> None:
    found = read(parquet(rows(finding(text)))).to_pylist()
    assert len(found) == 6
    whole = text.encode("utf-8", "backslashreplace").decode()
    assert found[3]["control"] == found[0]["kernel"] == whole
    assert found[3]["value"] == 10.0
    assert found[3]["seed"] is None


def test_columns_have_types_and_meanings_even_where_all_are_empty() -> None:
    schema = read(parquet([])).schema
    assert tuple(schema.names) == COLUMNS
    types = {name: str(schema.field(name).type) for name in ("run", "value", "trials")}
    assert types == {"run": "string", "value": "double", "trials": "int64"}
    assert schema.field("alone").metadata[b"meaning"].decode() == MEANINGS["alone"]


def test_without_pyarrow_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    for name in [one for one in sys.modules if one.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(MachineError) as raised:
        parquet([])
    assert raised.value.problems[0].hint == ("pip install 'pyarrow>=17', or take --format csv")
