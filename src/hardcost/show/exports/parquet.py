"""Rows of results as Parquet, by pyarrow, which is an extra: `hardcost[parquet]`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from typing import Any

from hardcost.errors import MachineError
from hardcost.show.exports.export import Export
from hardcost.show.exports.rows import MEANINGS, Row


def check() -> None:
    """Check that Parquet can be written.

    Raises:
        MachineError: pyarrow is not installed.
    """
    if find_spec("pyarrow") is None:
        raise MachineError(
            "Parquet needs pyarrow, which is not installed",
            hint="pip install 'pyarrow>=17', or take --format csv",
        )


def parquet(rows: Iterable[Row]) -> bytes:
    """Return rows as a Parquet file; each column has its meaning as metadata.

    Raises:
        MachineError: pyarrow is not installed.
    """
    check()
    arrow: Any = import_module("pyarrow")
    written: Any = import_module("pyarrow.parquet")
    types = {"str": arrow.string(), "int": arrow.int64(), "float": arrow.float64()}
    schema = arrow.schema(
        [
            arrow.field(one.name, types[_type(one.type)], metadata={"meaning": MEANINGS[one.name]})
            for one in fields(Row)
        ]
    )
    columns: dict[str, list[object]] = {one.name: [] for one in fields(Row)}
    for row in rows:
        for name, values in columns.items():
            values.append(_utf8(getattr(row, name)))
    out = BytesIO()
    written.write_table(arrow.table(columns, schema=schema), out)
    return out.getvalue()


def _type(annotation: object) -> str:
    """Return `str`, `int` or `float` for a column's annotation."""
    said = str(annotation)
    return next((name for name in ("float", "int") if said.startswith(name)), "str")


def _utf8(value: object) -> object:
    """Return a text as UTF-8 has it: a byte that is none is written as an escape."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return value


PARQUET = Export("parquet", parquet, check=check, binary=True)
