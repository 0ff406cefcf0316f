from __future__ import annotations

import csv
import io

from hypothesis import given

from hardcost.show.exports.rows import rows
from hardcost.show.exports.rows_text import COLUMNS, csv_text, markdown_text
from hardcost.units import visible
from tests.show.exports.findings import finding
from tests.show.exports.gates import ANY_TEXT, HOSTILE, NAMED
from tests.show.exports.test_gate_markdown import markdown_rows, words


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_csv_has_all_columns_and_all_digits() -> None:
    text = csv_text(rows(finding(value=100.0009765625)))
    assert text.splitlines()[0] == ",".join(COLUMNS)
    assert read(text)[1]["value"] == "100.0009765625"
    assert read(text)[1]["seed"] == ""


@ANY_TEXT
@given(text=HOSTILE)
def test_any_text_comes_out_of_csv_as_data(text: str) -> None:
    found = csv_text(rows(finding(text)), raw=True)
    assert len(found.splitlines()) == 7  # no text makes a line
    for row in read(found):
        assert None not in row
        assert row["kernel"] == row["study"] == visible(text)
    assert read(found)[3]["control"] == visible(text)
    assert read(found)[3]["value"] == "10.0"


@ANY_TEXT
@given(text=NAMED)
def test_any_text_comes_out_of_markdown_as_data(text: str) -> None:
    table = markdown_text(rows(finding(text)))
    header = [one.strip() for one in table.splitlines()[0].strip("|").split("|")]
    found = markdown_rows(table)
    assert len(found) == 6
    item = dict(zip(header, map(words, found[3]), strict=True))
    assert item["control"] == item["metric"] == visible(text)
    assert "seed" not in header
