"""What is in force, as Markdown and as Prometheus reads it."""

from __future__ import annotations

from dataclasses import replace

from auditrules.model.location import Location
from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.show.exports.in_force import markdown_text, prometheus_text

NAME = 'a"b\\c|d\x1b\ne'


def item(name: str, share: float | None, *, by_default: bool = False) -> HereItem:
    return HereItem(
        id=f"sysctl:{name}",
        kind="sysctl",
        name=name,
        place=Location("/etc/sysctl.d/a.conf", 3),
        by_default=by_default,
        share=share,
        known=None if share is None else "measured",
        why="no list has one" if share is None else None,
    )


FOUND = HereFinding(
    machine="m",
    words="",
    kernel="6.1.0",
    priced_on="6.1.0-57-amd64",
    predicted_on="6.1.0-57-amd64",
    mix="an assumed mix",
    mix_by="assumed",
    covered=0.5,
    share=0.25,
    first_rule=0.125,
    calls=(),
    items=(item(NAME, 0.0625), item("b=1", None), item("c=1", 0.5, by_default=True)),
    unseen=("x",),
)


def test_prometheus_gets_a_sample_for_each_known_share() -> None:
    lines = prometheus_text(FOUND).splitlines()
    assert 'hardcost_hardening_cost_ratio{priced_on="6.1.0-57-amd64",mix="assumed"} 0.25' in lines
    assert 'hardcost_hardening_part_ratio{part="first_rule"} 0.125' in lines
    start = "hardcost_hardening_item_cost_ratio{"
    items = [line.removeprefix(start) for line in lines if line.startswith(start)]
    assert items == [
        r'id="sysctl:a\"b\\c|d\\x1b\\ne",default="false"} 0.0625',
        'id="sysctl:c=1",default="true"} 0.5',
    ]
    assert 'hardcost_hardening_items{priced="false"} 1' in lines
    for name in {line.partition("{")[0] for line in lines if not line.startswith("#")}:
        assert f"# TYPE {name} gauge" in lines


def test_markdown_has_a_row_for_what_was_set() -> None:
    text = markdown_text(FOUND)
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(rows) == 2
    assert all(row.replace(r"\|", "").count("|") == 5 for row in rows)
    assert "| `b=1` |  | no list has one | `/etc/sysctl.d/a.conf:3` |" in rows
    assert "\x1b" not in text
    assert "- x" in text


def test_no_name_becomes_a_link_in_markdown() -> None:
    link = "[x](https://example.org)"
    hostile = replace(FOUND, machine=link, items=(item(link, 0.5),), unseen=(link,))
    text = markdown_text(hostile)
    assert f"| `{link}` |" in text
    assert link not in text.replace(f"`{link}`", "")
