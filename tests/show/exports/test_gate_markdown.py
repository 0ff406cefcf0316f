from __future__ import annotations

from hypothesis import given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from hardcost.show.exports.gate_markdown import gate_markdown
from hardcost.units import visible
from tests.show.exports.gates import ANY_TEXT, HOSTILE, NAMED, gate

READER = MarkdownIt("commonmark").enable("table")


def tokens(text: str) -> list[Token]:
    return READER.parse(text)


def markdown_rows(text: str) -> list[list[Token]]:
    """Return the content of each row of each table but the heads, cell by cell."""
    found: list[list[Token]] = []
    body = False
    for token in tokens(text):
        if token.type in {"tbody_open", "tbody_close"}:
            body = token.type == "tbody_open"
        elif token.type == "tr_open" and body:
            found.append([])
        elif token.type == "inline" and body:
            found[-1].append(token)
    return found


def words(token: Token) -> str:
    """Return what a reader sees; nothing in it is a link, an image or HTML."""
    children = token.children or []
    assert {one.type for one in children} <= {
        "text", "code_inline", "text_special", "strong_open", "strong_close", "softbreak",
    }  # fmt: skip
    return "".join(one.content for one in children)


def test_the_summary_says_first_whether_it_passed_and_how_it_knows() -> None:
    assert gate_markdown(gate()).startswith("### hardcost gate: failed (predicted)\n")
    assert gate_markdown(gate(limit=0.2)).startswith("### hardcost gate: passed (predicted)\n")


def test_metrics_and_lines_are_tables() -> None:
    metric, line = markdown_rows(gate_markdown(gate()))
    assert [words(cell) for cell in metric] == [
        "open", "insn/op", "100", "110", "+10", "+10.0%", "5.0%", "over",
    ]  # fmt: skip
    assert [words(cell) for cell in line] == [
        "added",
        "rules.d/x.rules:7",
        "-a always,exit -F dir=/srv -F perm=wa -k x",
        "+10 insn/op to open",
    ]


@ANY_TEXT
@given(control=NAMED, file=NAMED, name=HOSTILE)
def test_any_text_comes_out_as_data(control: str, file: str, name: str) -> None:
    text = gate_markdown(gate(control, file, name=name))
    metric, line = markdown_rows(text)
    assert len(metric) == 8
    assert words(line[1]) == visible(f"{file}:7")
    assert words(line[2]) == visible(control)
    paragraphs = [words(one) for one in tokens(text) if one.type == "inline"]
    assert f"before: {visible(name)}; after: HEAD (predicted)".strip() in paragraphs
