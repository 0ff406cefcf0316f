"""Files that users name."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.library import files
from auditrules.model.errors import StoreError


def test_a_result_that_can_not_be_written_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "report.html"
    with pytest.raises(StoreError, match=f"the report {path} can't be written: No such file") as it:
        files.put(path, b"<p>", "the report", "--report names another")
    assert it.value.exit_status == 3
    assert it.value.problems[0].hint == "--report names another"


def test_a_result_is_written_as_it_is(tmp_path: Path) -> None:
    files.put(tmp_path / "x", b"\xff\n")
    assert (tmp_path / "x").read_bytes() == b"\xff\n"
