from __future__ import annotations

from pathlib import Path

from auditrules.lint.checks import CODES
from auditrules.lint.markdown import page

PROJECT = Path(__file__).parents[3]


def test_the_page_in_docs_is_the_one_that_the_findings_make() -> None:
    kept = (PROJECT / "docs" / "lint.md").read_text()
    assert kept == page(), "run scripts/lint-page"


def test_each_finding_has_its_part() -> None:
    parts = [line.removeprefix("### ") for line in page().splitlines() if line.startswith("### ")]
    assert parts == list(CODES)
