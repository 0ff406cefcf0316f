"""Gates with any text in their names, and what a reader of a form has to get back."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from auditrules.model.location import Location
from hardcost.model.finding.change import Change, ChangeLine, Contribution, Gate, Growth
from hardcost.model.workload import metric_of

PIECES = (
    "::error::x", "::set-output name=a::b", "##[error]", "]]>", "<!--", "-->", "{{ x }}", "{% x %}",
    "\n", "\r", "%0A", "%", "`", "``", "|", "\\|", "\\", "<b>", "&amp;", "'", '"', "$(x)", ";", "*",
    "_", "[a](b)", "\x1b[31m", "\0", "\udcff", "\u202e", "\N{NO-BREAK SPACE}", "=", ",", ":", "#",
    "-a always,exit", " ", "@x", "http://a.b", "é", "=1+1",
)  # fmt: skip
HOSTILE = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=4)), max_size=6).map("".join)
"""Any text, of what means something to shells, YAML, XML, Markdown and CI servers."""

ANY_TEXT = settings(deadline=None)  # a busy host is slow, whatever the text

NAMED = HOSTILE.filter(lambda text: bool(text.strip()) and "/" not in text)


def line(control: str, file: str = "rules.d/x.rules", at: int | None = 7) -> ChangeLine:
    return ChangeLine(Location(file, at), control, Change.ADDED)


def gate(  # noqa: PLR0913  (each is a choice of its own)
    control: str = "-a always,exit -F dir=/srv -F perm=wa -k x",
    file: str = "rules.d/x.rules",
    *,
    metric: str = "open",
    grows: float = 10.0,
    limit: float | None = 0.05,
    name: str = "main",
    fixed: float | None = 0.0,
) -> Gate:
    """Return a gate in which one line, and having any rule, make a metric of 100 grow."""
    one = line(control, file)
    part = Contribution(one, grows, grows, grows)
    whole = grows + (fixed or 0.0)
    growth = Growth(
        metric=metric_of(metric),
        unit="insn/op",
        base=100.0,
        head=100.0 + whole,
        low=whole,
        high=whole,
        before=20.0,
        after=20.0 + whole,
        parts=(part,) if grows else (),
        limit=limit,
        fixed=fixed,
    )
    return Gate(
        base=name,
        head="HEAD",
        how="predicted",
        conditions=("constants of kernel 6.1",),
        growths=(growth,),
        lines=(one,),
        notes=("a note",),
    )
