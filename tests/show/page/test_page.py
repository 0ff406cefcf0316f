from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from hardcost.model.finding.bill import Bill
from hardcost.model.finding.failure import Failure
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import role_of
from hardcost.model.workload import MetricId, Workload, workload_of
from hardcost.show.charts.chart import UNDRAWN
from hardcost.show.page.page import to_html
from hardcost.show.text import TIMES
from tests.show.conftest import HOSTILE
from tests.show.guests import failed, filecopy


class Page(HTMLParser):
    """What a browser would see: tags, attributes, text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.in_cell = False
        self.rows: list[list[str]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
        self.in_cell = tag in {"td", "th"} or self.in_cell

    def handle_endtag(self, tag: str) -> None:
        self.in_cell = self.in_cell and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.in_cell:
            self.rows[-1][-1] += data.strip()


@pytest.fixture(scope="module")
def run_html(run: StudyFinding) -> str:
    return to_html(run)


@pytest.fixture(scope="module")
def run_page(run_html: str) -> Page:
    return Page(run_html)


@pytest.fixture(scope="module")
def bill_html(bill: Bill) -> str:
    return to_html(bill)


def test_a_page_without_charts_says_so_and_has_all_tables(run: StudyFinding) -> None:
    whole, bare = to_html(run), to_html(run, drawn=False)
    assert '<figure class="chart">' in whole
    assert '<figure class="chart">' not in bare
    assert UNDRAWN.split("`")[0] in bare
    assert UNDRAWN.split("`")[0] not in whole
    assert bare.count("<table") == whole.count("<table")


def test_nothing_is_loaded_from_outside(run_html: str, run_page: Page, bill_html: str) -> None:
    for html, page in ((run_html, run_page), (bill_html, Page(bill_html))):
        assert not page.tags & {"script", "link", "img", "iframe", "object", "base", "form"}
        assert not [a for a in page.attributes if a[0] == "src" or a[0].startswith("on")]
        assert all(value.startswith("#") for name, value in page.attributes if name == "href")
        assert not re.search(r"@import|url\((?!#)", html)
        assert set(re.findall(r"https?://[^\"' <]*", html)) <= {"http://www.w3.org/2000/svg"}


def test_the_page_forbids_itself_everything_but_style(run_page: Page) -> None:
    (policy,) = (v for n, v in run_page.attributes if n == "content" and "default" in v)
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert "script-src" not in policy


def test_the_same_finding_gives_the_same_page(
    run_of: Callable[[tuple[str, ...]], StudyFinding],
) -> None:
    assert to_html(run_of(("null",))) == to_html(run_of(("null",)))


def test_a_row_holds_what_was_measured(run_page: Page) -> None:
    row = next(row for row in run_page.rows if row[0] == "rules=160")
    assert row[1:3] == ["3,626", "+3,264"]
    assert len(row) == 1 + 2 * 28


def test_on_paper_a_wide_table_is_split(run_page: Page) -> None:
    whole, *parts = (row for row in run_page.rows if row[0] == "rules=160" and "5.50" not in row)
    assert len(parts) > 1
    assert max(map(len, parts)) < len(whole)
    assert [cell for row in parts for cell in row[1:]] == whole[1:]


def test_published_figures_stand_with_ours_and_their_source(run_page: Page) -> None:
    rows = [row for row in run_page.rows if row[0] == "rules=160" and "5.50" in row]
    assert rows[0][1:4] == ["5.50", f"{TIMES}2.94", f"{TIMES}10.0"]
    assert "linux-audit mailing list" in run_page.text


def test_the_environment_and_how_to_repeat_it_are_reported(run_page: Page, bill: Bill) -> None:
    assert "hardcost run audit-rules --workload syscalls --machine vm" in run_page.text
    assert "hardcost report audit-rules-1" in run_page.text
    for fact in ("7.2.22", "6.1.192", "Skylake-Server-v4", "page-table isolation costs more"):
        assert fact in run_page.text
    first = tuple(item for item in bill.items if item.metric == MetricId("null"))[:1]
    spaced = replace(bill, profile="my rules; rm", items=first)
    assert "hardcost bill 'my rules; rm' --machine vm" in Page(to_html(spaced)).text


def test_how_to_repeat_it_is_what_was_typed_and_where(bill: Bill) -> None:
    typed = ("hardcost", "run", "my clearing.toml", "--jobs", "1")
    page = Page(to_html(replace(bill, command=typed, folder="/srv/my studies"))).text
    assert "hardcost run 'my clearing.toml' --jobs 1" in page
    assert "cd '/srv/my studies'" in page
    assert "cd " not in Page(to_html(replace(bill, command=typed))).text


def test_a_bill_shows_each_rule_and_adds_up(bill: Bill, bill_html: str) -> None:
    page = Page(bill_html)
    assert all(item.control in page.text for item in bill.items)
    metrics = len(bill.totals)
    matrix = [row for row in page.rows if len(row) == 3 + metrics and "null" not in row]
    columns = zip(*(row[3:] for row in matrix if row[3]), strict=True)
    for column in columns:
        *parts, total = (int(cell.replace(",", "")) for cell in column if cell[0] in "+-0")
        assert sum(parts) == total


def test_every_name_is_text(hostile: StudyFinding) -> None:
    html = to_html(hostile)
    page = Page(html)
    assert "<script" not in html
    assert "script" not in page.tags
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert r"<script>alert(1)</script>\x1b[31m[bold]&amp;\u202e" in page.text
    for name in ("run", "study", "vm", "insn", "qemu", "note", "null", "syscalls", "rules=160"):
        assert f"{name}<script>" in page.text


def test_a_failure_is_reported_with_its_log_to_unfold() -> None:
    html = to_html(replace(failed(filecopy(), "audit", "<b>died</b>"), observed=()))
    page = Page(html)
    assert "4 trials failed" in page.text
    assert "<b>died</b>" in page.text
    assert "first\nlast words" in page.text
    assert "<b>died" not in html
    summary, copies, *_ = (row for row in page.rows if row[0] == "audit")
    assert summary[1:] == ["failed"] * 4
    assert copies[1:3] == ["failed", "-"]


def test_a_log_out_of_the_guest_is_text() -> None:
    lost = Failure(role_of("c"), Workload("w"), 0, 0, HOSTILE, HOSTILE, f"{HOSTILE}\n{HOSTILE}")
    html = to_html(replace(filecopy(), cells=(), observed=(), failures=(lost,)))
    assert "<script" not in html
    assert "\x1b" not in html
    assert Page(html).text.count(r"<script>alert(1)</script>\x1b[31m[bold]&amp;\u202e") == 4


def test_what_rode_along_is_shown() -> None:
    page = Page(to_html(filecopy()))
    assert any(row[0] == "rsyslogd" and "50.5%" in row for row in page.rows)
    assert any(row[0] == "perm_mod" and "900" in row for row in page.rows)
    assert "Published, 1 to 8 copies at once" in page.text


def test_of_a_guest_with_services_small_differences_are_not_said_to_be_a_controls_cost() -> None:
    small, services = filecopy(), replace(filecopy(), environment={"image": "Debian 12"})
    cells = small.cells[:1]
    pages = [Page(to_html(replace(it, cells=cells, observed=()))) for it in (small, services)]
    single = ["a difference of a single instruction is real" in page.text for page in pages]
    assert single == [True, False]
    assert "The same trial always gives the same count." in pages[1].text
    assert "a difference below about half a per cent" in pages[1].text
    assert "Debian 12" in pages[1].text


def test_the_command_that_measures_it_again_is_whole(run: StudyFinding) -> None:
    study = replace(run, study="stig-filecopy-full", scale="full", machine="vm", levels={})
    cells = [replace(run.cells[0], workload=workload_of(name)) for name in ("a x=1", "b", "a x=1")]
    page = Page(to_html(replace(study, cells=tuple(cells))))
    said = "hardcost run stig-filecopy --scale full --workload 'a x=1,b' --machine vm"
    assert said in page.text


def test_a_run_that_recorded_nothing_of_its_machine_says_so(run: StudyFinding) -> None:
    bare = replace(run, environment={}, cells=run.cells[:1], levels={}, notes=(), source=None)
    page = Page(to_html(bare))
    assert "Nothing was recorded about the machine." in page.text
    assert "Notes" not in page.text


def test_an_empty_profile_has_an_empty_page(bill: Bill) -> None:
    empty = replace(bill, items=(), totals=(), rest=(), interaction=())
    assert "0 controls" in Page(to_html(empty)).text


def test_an_instrument_without_a_guide_is_named(run: StudyFinding) -> None:
    other = replace(run, instrument="perf", levels={}, source=None)
    assert "recorded by the instrument perf." in Page(to_html(other)).text
